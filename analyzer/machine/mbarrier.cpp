// SPDX-License-Identifier: Apache-2.0
// Phase accounting of an mbarrier object.
#include "analyzer/machine/mbarrier.h"

namespace handoff::machine {

void MbarrierObject::init(std::uint32_t count, EventId event) {
  if (init_ != 0) ++phase_;  // a second life starts with a phase of its own
  is_live_ = true;
  first_phase_ = phase_;
  expected_ = pending_ = count;
  transactions_ = 0;
  init_ = event;
  events_.clear();
  open_ = Clock();
  completed_ = Clock();
}

bool MbarrierObject::advanceIfDone() {
  if (pending_ != 0 || transactions_ != 0) return false;
  ++phase_;
  pending_ = expected_;
  completed_ = std::move(open_);
  open_ = Clock();
  completed_.raise(actor_, phase_);
  completed_.raise(timeActor(), phase_);
  events_.clear();
  return true;
}

void MbarrierObject::expect(std::int64_t bytes, EventId event) {
  transactions_ += bytes;
  events_.push_back(event);
}

void MbarrierObject::complete(std::int64_t bytes, EventId event) {
  transactions_ -= bytes;
  events_.push_back(event);
  advanceIfDone();
}

bool MbarrierObject::arrive(std::uint32_t count, EventId event) {
  pending_ -= count > pending_ ? pending_ : count;
  events_.push_back(event);
  return advanceIfDone();
}

}  // namespace handoff::machine
