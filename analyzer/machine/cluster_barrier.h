// SPDX-License-Identifier: Apache-2.0
// The barrier of a cluster (PTX ISA, "barrier.cluster").
#pragma once

#include <cstdint>
#include <vector>

#include "analyzer/machine/clock.h"
#include "analyzer/machine/event.h"

namespace handoff::machine {

/// Every thread of the cluster that has not exited arrives once a generation, and waits for it before it arrives again.
class ClusterBarrier {
 public:
  /// Times that the barrier has completed.
  std::uint32_t generation() const { return generation_; }
  bool isActive() const { return !arrived_.empty(); }
  /// What arrivals of the open generation release.
  Clock& openClock() { return open_; }
  const Clock& openClock() const { return open_; }
  /// What a wait for the last generation acquires.
  const Clock& completedClock() const { return completed_; }
  const std::vector<EventId>& arrivals() const { return events_; }
  LaneMask arrivedOf(std::size_t warp) const { return warp < arrived_.size() ? arrived_[warp] : 0; }

  /// `warp` counts through all CTAs of the cluster.
  void arrive(std::size_t warp, LaneMask lanes, EventId event);
  /// `live`: lanes that exist and have not exited, by warp of the cluster.
  bool isComplete(const std::vector<LaneMask>& live) const;
  /// `actor` counts the generations in clocks.
  void complete(ActorId actor);

 private:
  std::uint32_t generation_ = 0;
  std::vector<LaneMask> arrived_;  ///< by warp of the cluster
  std::vector<EventId> events_;
  Clock open_, completed_;
};

}  // namespace handoff::machine
