// SPDX-License-Identifier: Apache-2.0
// Participation in the cluster barrier.
#include "analyzer/machine/cluster_barrier.h"

#include <utility>

namespace handoff::machine {

void ClusterBarrier::arrive(std::size_t warp, LaneMask lanes, EventId event) {
  if (arrived_.size() <= warp) arrived_.resize(warp + 1, 0);
  arrived_[warp] |= lanes;
  events_.push_back(event);
}

bool ClusterBarrier::isComplete(const std::vector<LaneMask>& live) const {
  if (!isActive()) return false;
  for (std::size_t warp = 0; warp < live.size(); ++warp) {
    if ((live[warp] & ~arrivedOf(warp)) != 0) return false;
  }
  return true;
}

void ClusterBarrier::complete(ActorId actor) {
  ++generation_;
  completed_ = std::exchange(open_, {});
  // Even a relaxed arrival says that its CTA has started, and orders what follows in time.
  completed_.raise(actor, generation_);
  arrived_.clear();
  events_.clear();
}

}  // namespace handoff::machine
