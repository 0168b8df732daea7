// SPDX-License-Identifier: Apache-2.0
// Participation of a CTA barrier.
#include "analyzer/machine/cta_barrier.h"

namespace handoff::machine {

EventId CtaBarrier::earlierArrival(std::uint16_t warp, LaneMask lanes) const {
  for (const Arrival& arrival : arrivals_) {
    if (arrival.warp == warp && (arrival.lanes & lanes) != 0) return arrival.event;
  }
  return 0;
}

void CtaBarrier::arrive(const Arrival& arrival, std::uint32_t expected_threads) {
  if (arrivals_.empty()) expected_threads_ = expected_threads;
  arrivals_.push_back(arrival);
}

std::uint32_t CtaBarrier::arrivedThreads(const std::vector<LaneMask>& live) const {
  std::vector<LaneMask> arrived(live.size(), 0);
  for (const Arrival& arrival : arrivals_) arrived[arrival.warp] |= arrival.lanes;
  std::uint32_t threads = 0;
  for (std::size_t warp = 0; warp < live.size(); ++warp) {
    const bool complete = arrived[warp] != 0 && (live[warp] & ~arrived[warp]) == 0;
    if (complete) threads += kWarpSize;
  }
  return threads;
}

bool CtaBarrier::isComplete(const std::vector<LaneMask>& live) const {
  if (!isActive()) return false;
  if (expected_threads_ != 0) return arrivedThreads(live) >= expected_threads_;
  std::vector<LaneMask> arrived(live.size(), 0);
  for (const Arrival& arrival : arrivals_) arrived[arrival.warp] |= arrival.lanes;
  for (std::size_t warp = 0; warp < live.size(); ++warp) {
    if ((live[warp] & ~arrived[warp]) != 0) return false;
  }
  return true;
}

void CtaBarrier::reset() {
  ++generation_;
  arrivals_.clear();
  expected_threads_ = 0;
  reduction_ = {};
  clock_ = std::make_shared<Clock>();
}

}  // namespace handoff::machine
