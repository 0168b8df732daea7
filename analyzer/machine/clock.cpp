// SPDX-License-Identifier: Apache-2.0
// Vector clock operations.
#include "analyzer/machine/clock.h"

#include <algorithm>

namespace handoff::machine {

void Clock::join(const Clock& other) {
  if (times_.size() < other.times_.size()) times_.resize(other.times_.size(), 0);
  for (std::size_t i = 0; i < other.times_.size(); ++i) times_[i] = std::max(times_[i], other.times_[i]);
}

void Clock::joinTime(const Clock& other, ActorId first) {
  for (ActorId actor = first + 1; actor < other.times_.size(); actor += 2) {
    if (other.times_[actor] != 0) raise(actor, other.times_[actor]);
  }
}

bool Clock::covers(const Clock& other) const {
  for (std::size_t i = 0; i < other.times_.size(); ++i) {
    if (at(static_cast<ActorId>(i)) < other.times_[i]) return false;
  }
  return true;
}

WarpClock::WarpClock(ActorId first_lane) : first_lane_(first_lane) {
  known_.fill(std::make_shared<const Clock>());
}

bool WarpClock::isShared(LaneMask lanes) const {
  if (lanes == 0) return true;
  const Clock* first = known_[lowestLane(lanes)].get();
  bool same = true;
  forEachLane(lanes, [&](unsigned lane) { same &= known_[lane].get() == first; });
  return same;
}

void WarpClock::publish(LaneMask lanes, Clock& target) {
  const Clock* joined = nullptr;
  forEachLane(lanes, [&](unsigned lane) {
    if (known_[lane].get() != joined) {
      joined = known_[lane].get();
      target.join(*joined);
    }
  });
  forEachLane(lanes, [&](unsigned lane) { target.raise(actorOf(lane), epoch_); });
  ++epoch_;
}

namespace {

// Applies `change` once to each distinct clock that the lanes hold, so that lanes that shared one still do.
template <typename F>
void changeEach(std::array<ClockRef, kWarpSize>& known, LaneMask lanes, F&& change) {
  while (lanes != 0) {
    const ClockRef old = known[lowestLane(lanes)];
    auto fresh = std::make_shared<Clock>(*old);
    change(*fresh);
    const ClockRef result = std::move(fresh);
    forEachLane(lanes, [&](unsigned lane) {
      if (known[lane] != old) return;
      known[lane] = result;
      lanes &= ~laneBit(lane);
    });
  }
}

}  // namespace

void WarpClock::learn(LaneMask lanes, const Clock& source) {
  changeEach(known_, lanes, [&](Clock& clock) { clock.join(source); });
}

void WarpClock::learn(LaneMask lanes, ActorId actor, Epoch epoch) {
  changeEach(known_, lanes, [&](Clock& clock) { clock.raise(actor, epoch); });
}

void WarpClock::adopt(LaneMask lanes, const ClockRef& source) {
  forEachLane(lanes, [&](unsigned lane) { known_[lane] = source; });
}

void WarpClock::exchange(LaneMask lanes) {
  auto joined = std::make_shared<Clock>();
  publish(lanes, *joined);
  const ClockRef result = std::move(joined);
  forEachLane(lanes, [&](unsigned lane) { known_[lane] = result; });
}

}  // namespace handoff::machine
