// SPDX-License-Identifier: Apache-2.0
// Participation of a CTA barrier.
#include "analyzer/machine/cta_barrier.h"

#include <algorithm>
#include <array>

namespace handoff::machine {

std::uint32_t CtaBarrier::timesArrived(std::uint16_t warp, LaneMask live) const {
  std::array<std::uint32_t, kWarpSize> times{};
  LaneMask arrived = 0;
  for (const Arrival& arrival : arrivals_) {
    if (arrival.warp != warp) continue;
    arrived |= arrival.lanes;
    forEachLane(arrival.lanes, [&](unsigned lane) { ++times[lane]; });
  }
  std::uint32_t least = arrived == 0 ? 0 : ~0u;
  forEachLane(arrived == 0 ? 0 : live | arrived, [&](unsigned lane) { least = std::min(least, times[lane]); });
  return least;
}

void CtaBarrier::arrive(const Arrival& arrival, std::uint32_t expected_threads) {
  if (arrivals_.empty()) expected_threads_ = expected_threads;
  arrivals_.push_back(arrival);
}

std::uint32_t CtaBarrier::arrivedThreads(const std::vector<LaneMask>& live) const {
  std::uint32_t threads = 0;
  for (std::uint16_t warp = 0; warp < live.size(); ++warp) threads += kWarpSize * timesArrived(warp, live[warp]);
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
