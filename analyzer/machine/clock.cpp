// SPDX-License-Identifier: Apache-2.0
// Vector clock operations.
#include "analyzer/machine/clock.h"

#include <algorithm>

namespace handoff::machine {

namespace {

constexpr unsigned kOrderView = static_cast<unsigned>(View::kOrder);
constexpr unsigned kPastView = static_cast<unsigned>(View::kPast);
constexpr unsigned kTimeView = static_cast<unsigned>(View::kTime);

}  // namespace

void Clock::joinTimes(Times& target, const Times& source) {
  if (target.size() < source.size()) target.resize(source.size(), 0);
  for (std::size_t i = 0; i < source.size(); ++i) target[i] = std::max(target[i], source[i]);
}

void Clock::raise(View view, ActorId actor, Epoch epoch) {
  Times& times = views_[static_cast<unsigned>(view)];
  if (actor >= times.size()) times.resize(actor + 1, 0);
  times[actor] = std::max(times[actor], epoch);
}

void Clock::join(const Clock& other) {
  for (unsigned view = 0; view < kViews; ++view) joinTimes(views_[view], other.views_[view]);
}

void Clock::joinPast(const Clock& other) {
  joinTimes(views_[kPastView], other.views_[kOrderView]);
  for (unsigned view = kPastView; view < kViews; ++view) joinTimes(views_[view], other.views_[view]);
}

void Clock::joinTime(const Clock& other) {
  for (const unsigned view : {kOrderView, kPastView, kTimeView}) joinTimes(views_[kTimeView], other.views_[view]);
}

void Clock::fence(View fenced) {
  Times& target = views_[static_cast<unsigned>(fenced)];
  joinTimes(target, views_[kOrderView]);
  joinTimes(target, views_[kPastView]);
}

bool Clock::covers(const Clock& other) const {
  for (unsigned view = 0; view < kViews; ++view) {
    for (std::size_t i = 0; i < other.views_[view].size(); ++i) {
      if (at(static_cast<View>(view), static_cast<ActorId>(i)) < other.views_[view][i]) return false;
    }
  }
  return true;
}

WarpClock::WarpClock(ActorId first_lane) : first_lane_(first_lane) {
  known_.fill(std::make_shared<const Clock>());
}

bool WarpClock::isShared(const Known& known, LaneMask lanes) {
  if (lanes == 0) return true;
  const Clock* const first = known[lowestLane(lanes)].get();
  bool same = true;
  forEachLane(lanes, [&](unsigned lane) { same &= known[lane].get() == first; });
  return same;
}

namespace {

/// Calls f once for each distinct clock that the lanes hold.
template <typename F>
void forEachClock(const std::array<ClockRef, kWarpSize>& known, LaneMask lanes, F&& f) {
  const Clock* last = nullptr;
  forEachLane(lanes, [&](unsigned lane) {
    if (known[lane].get() == last) return;
    last = known[lane].get();
    f(*last);
  });
}

}  // namespace

void WarpClock::replace(LaneMask lanes, const ClockRef& clock) {
  forEachLane(lanes, [&](unsigned lane) { known_[lane] = clock; });
  is_one_ = isShared(known_, kAllLanes);
}

// Applies `f(clock, lanes)` once to each distinct clock that the lanes hold, so that lanes that shared one still do.
template <typename F>
void WarpClock::change(LaneMask lanes, F&& f) {
  while (lanes != 0) {
    const ClockRef old = known_[lowestLane(lanes)];
    LaneMask same = 0;
    forEachLane(lanes, [&](unsigned lane) { same |= known_[lane] == old ? laneBit(lane) : 0; });
    auto fresh = std::make_shared<Clock>(*old);
    f(*fresh, same);
    replace(same, std::move(fresh));
    lanes &= ~same;
  }
}

void WarpClock::publish(LaneMask lanes, Clock& target) {
  forEachClock(known_, lanes, [&](const Clock& clock) { target.join(clock); });
  forEachLane(lanes, [&](unsigned lane) { target.raise(actorOf(lane), epoch_); });
  ++epoch_;
}

void WarpClock::publishPast(LaneMask lanes, Clock& target) {
  forEachClock(known_, lanes, [&](const Clock& clock) { target.joinPast(clock); });
  forEachLane(lanes, [&](unsigned lane) { target.raise(View::kPast, actorOf(lane), epoch_); });
  ++epoch_;
}

void WarpClock::publishTime(LaneMask lanes, Clock& target) {
  forEachClock(known_, lanes, [&](const Clock& clock) { target.joinTime(clock); });
  forEachLane(lanes, [&](unsigned lane) { target.raise(View::kTime, actorOf(lane), epoch_); });
  ++epoch_;
}

void WarpClock::learn(LaneMask lanes, const Clock& source) {
  change(lanes, [&](Clock& clock, LaneMask) { clock.join(source); });
}

void WarpClock::learnPast(LaneMask lanes, const Clock& source) {
  change(lanes, [&](Clock& clock, LaneMask) { clock.joinPast(source); });
}

void WarpClock::learnTime(LaneMask lanes, const Clock& source) {
  change(lanes, [&](Clock& clock, LaneMask) { clock.joinTime(source); });
}

void WarpClock::learn(LaneMask lanes, ActorId actor, Epoch epoch) { learn(lanes, View::kOrder, actor, epoch); }

void WarpClock::learn(LaneMask lanes, View view, ActorId actor, Epoch epoch) {
  change(lanes, [&](Clock& clock, LaneMask) { clock.raise(view, actor, epoch); });
}

void WarpClock::adopt(LaneMask lanes, const ClockRef& source) { replace(lanes, source); }

void WarpClock::exchange(LaneMask lanes) {
  auto joined = std::make_shared<Clock>();
  publish(lanes, *joined);
  replace(lanes, std::move(joined));
}

void WarpClock::fence(LaneMask lanes, View fenced) {
  change(lanes, [&](Clock& clock, LaneMask same) {
    clock.fence(fenced);
    // Lanes that share a clock fence together; a neighbour's events count only once they are ordered, too.
    forEachLane(same, [&](unsigned lane) { clock.raise(fenced, actorOf(lane), epoch_); });
  });
  ++epoch_;
}

void WarpClock::settleLoads(LaneMask lanes, View view) {
  change(lanes, [&](Clock& clock, LaneMask) {
    forEachLane(lanes, [&](unsigned lane) { clock.raise(view, actorOf(lane), epoch_); });
  });
  ++epoch_;
}

}  // namespace handoff::machine
