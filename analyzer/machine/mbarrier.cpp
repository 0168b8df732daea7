// SPDX-License-Identifier: Apache-2.0
// Phase accounting of an mbarrier object.
#include "analyzer/machine/mbarrier.h"

#include <algorithm>
#include <utility>

namespace handoff::machine {

void MbarrierObject::init(std::uint32_t count, EventId event) {
  if (init_ != 0) ++phase_;  // a second life starts with a phase of its own
  is_live_ = true;
  ++lives_;
  first_phase_ = phase_;
  expected_ = pending_ = count;
  transactions_ = 0;
  init_ = event;
  events_.clear();
  open_ = {};
  completed_ = {};
  waiters_.clear();
  open_arrivers_.clear();
  users_.clear();
  is_async_ = false;
  pending_expects_.clear();
}

bool MbarrierObject::advanceIfDone() {
  if (pending_ != 0 || transactions_ != 0) return false;
  ++phase_;
  pending_ = expected_;
  completed_ = std::exchange(open_, {});
  completed_.own.raise(actor_, phase_);
  events_.clear();
  earlier_arrivers_ = std::move(completed_arrivers_);
  completed_arrivers_ = std::exchange(open_arrivers_, {});
  if (std::exchange(is_async_, false)) completed_arrivers_.clear();
  if (const auto bytes = bytes_.find(phase_ - 1); bytes != bytes_.end() && bytes->second.expected == bytes->second.delivered) {
    bytes_.erase(bytes);
  }
  for (const PendingExpect& expect : std::exchange(pending_expects_, {})) late_expects_.push_back(expect.event);
  for (const Waiter& waiter : waiters_) {
    const ActorId first = waiter.warp * kWarpSize;
    const bool went_on = waiter.phase + 2 != phase_ || completed_.own.reachesWarp(first, waiter.epoch, waiter.lanes) ||
                         completed_.remote.reachesWarp(first, waiter.epoch, waiter.lanes);
    if (!went_on) lapped_.push_back(waiter);
  }
  std::erase_if(waiters_, [&](const Waiter& waiter) { return waiter.phase + 2 <= phase_; });
  return true;
}

void MbarrierObject::expect(std::int64_t bytes, EventId event) {
  transactions_ += bytes;
  is_async_ = true;
  events_.push_back(event);
}

bool MbarrierObject::complete(std::int64_t bytes, EventId event) {
  transactions_ -= bytes;
  is_async_ = true;
  events_.push_back(event);
  return advanceIfDone();
}

bool MbarrierObject::arrive(std::uint32_t count, EventId event) {
  pending_ -= count > pending_ ? pending_ : count;
  events_.push_back(event);
  return advanceIfDone();
}

void MbarrierObject::noteWaiter(const Waiter& waiter) {
  const auto same = std::find_if(waiters_.begin(), waiters_.end(), [&](const Waiter& other) {
    return other.warp == waiter.warp && other.lanes == waiter.lanes && other.phase == waiter.phase;
  });
  if (same == waiters_.end()) {
    waiters_.push_back(waiter);
  } else {
    *same = waiter;
  }
}

void MbarrierObject::noteUser(const Arriver& user) {
  const auto same = std::find_if(users_.begin(), users_.end(), [&](const Arriver& other) { return other.warp == user.warp; });
  if (same == users_.end()) {
    users_.push_back(user);
  } else {
    *same = user;
  }
}

std::vector<MbarrierObject::Waiter> MbarrierObject::takeLapped() { return std::exchange(lapped_, {}); }

std::vector<EventId> MbarrierObject::takeLateExpects() { return std::exchange(late_expects_, {}); }

}  // namespace handoff::machine
