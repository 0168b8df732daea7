// SPDX-License-Identifier: Apache-2.0
// Group bookkeeping per thread.
#include "analyzer/machine/copy_groups.h"

#include <algorithm>

namespace handoff::machine {

void CopyGroups::commit(LaneMask lanes) {
  forEachLane(lanes, [&](unsigned lane) {
    ++committed_[lane];
    copies_in_group_[lane].push_back(open_copies_[lane]);
    open_copies_[lane] = 0;
  });
}

void CopyGroups::retire(unsigned lane, std::uint32_t groups, Epoch epoch) {
  auto& epochs = retire_epoch_[lane];
  if (epochs.size() < groups) epochs.resize(groups, epoch);
}

void CopyGroups::waitGroup(LaneMask lanes, std::uint32_t pending_allowed, EventId wait, Epoch epoch) {
  forEachLane(lanes, [&](unsigned lane) {
    waits_[lane].push_back({wait, pending_allowed, committed_[lane], /*is_wait_all=*/false});
    if (committed_[lane] > pending_allowed) retire(lane, committed_[lane] - pending_allowed, epoch);
  });
}

void CopyGroups::waitAll(LaneMask lanes, EventId wait, Epoch epoch) {
  // wait_all is a commit followed by wait_group 0.
  commit(lanes);
  forEachLane(lanes, [&](unsigned lane) {
    waits_[lane].push_back({wait, 0, committed_[lane], /*is_wait_all=*/true});
    retire(lane, committed_[lane], epoch);
  });
}

void CopyGroups::track(LaneMask lanes, EventId upto, ActorId barrier, Epoch phase) {
  forEachLane(lanes, [&](unsigned lane) {
    tracked_[lane].push_back({upto, barrier, phase + 1});
    // What an mbarrier phase tracks is awaited through that barrier.
    open_copies_[lane] = 0;
    auto& copies = copies_in_group_[lane];
    std::fill(copies.begin() + tracked_groups_[lane], copies.end(), 0);
    tracked_groups_[lane] = committed_[lane];
  });
}

const CopyGroups::Wait* CopyGroups::lastWaitAfter(unsigned lane, EventId after) const {
  const auto& waits = waits_[lane];
  return !waits.empty() && waits.back().event > after ? &waits.back() : nullptr;
}

bool CopyGroups::hasUnretired(unsigned lane) const {
  if (open_copies_[lane] != 0) return true;
  const auto& copies = copies_in_group_[lane];
  for (std::size_t group = retire_epoch_[lane].size(); group < copies.size(); ++group) {
    if (copies[group] != 0) return true;
  }
  return false;
}

}  // namespace handoff::machine
