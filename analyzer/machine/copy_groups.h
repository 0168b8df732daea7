// SPDX-License-Identifier: Apache-2.0
// The cp.async groups of one warp's threads (PTX ISA, "cp.async.commit_group", "cp.async.wait_group",
// "cp.async.mbarrier.arrive").
//
// Groups of a thread are numbered from 0 in commit order; a copy belongs to the group that the thread's next commit
// closes. A wait retires all groups but the newest N committed ones, and the epoch of that wait is when the thread,
// and whoever synchronises with it later, may use the data.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "analyzer/machine/clock.h"
#include "analyzer/machine/event.h"

namespace handoff::machine {

class CopyGroups {
 public:
  /// The number of the group that a copy issued now will belong to.
  std::uint32_t openGroup(unsigned lane) const { return committed_[lane]; }
  std::uint32_t committed(unsigned lane) const { return committed_[lane]; }

  void noteCopy(LaneMask lanes) { forEachLane(lanes, [&](unsigned lane) { ++open_copies_[lane]; }); }
  void commit(LaneMask lanes);
  /// cp.async.wait_group N. `wait` is the event of the instruction.
  void waitGroup(LaneMask lanes, std::uint32_t pending_allowed, EventId wait, Epoch epoch);
  /// cp.async.wait_all: also covers copies that were never committed.
  void waitAll(LaneMask lanes, EventId wait, Epoch epoch);
  /// cp.async.mbarrier.arrive: the phase of that barrier covers all copies issued so far.
  void track(LaneMask lanes, EventId upto, ActorId barrier, Epoch phase);

  bool isCommitted(unsigned lane, std::uint32_t group) const { return group < committed_[lane]; }
  bool isRetired(unsigned lane, std::uint32_t group) const { return group < retire_epoch_[lane].size(); }
  Epoch retireEpoch(unsigned lane, std::uint32_t group) const { return retire_epoch_[lane][group]; }

  struct Tracked {
    EventId upto = 0;       ///< covers copies with a smaller event id
    ActorId barrier = 0;
    Epoch known_from = 0;   ///< observers whose component for `barrier` is at least this know the copies complete
  };
  const std::vector<Tracked>& tracked(unsigned lane) const { return tracked_[lane]; }

  /// A wait as executed by one thread.
  struct Wait {
    EventId event = 0;
    std::uint32_t pending_allowed = 0;
    std::uint32_t committed = 0;  ///< groups the thread had committed by then
    bool is_wait_all = false;
  };
  /// The thread's last wait with an event id after `after`, or null.
  const Wait* lastWaitAfter(unsigned lane, EventId after) const;

  /// Groups that are over, and what is in a group that is not.
  std::uint32_t retired(unsigned lane) const { return static_cast<std::uint32_t>(retire_epoch_[lane].size()); }
  std::uint32_t copiesIn(unsigned lane, std::uint32_t group) const { return copies_in_group_[lane][group]; }
  std::uint32_t openCopies(unsigned lane) const { return open_copies_[lane]; }

  /// True when the thread has copies that neither a wait nor a barrier phase covers.
  bool hasUnretired(unsigned lane) const;

 private:
  void retire(unsigned lane, std::uint32_t groups, Epoch epoch);

  std::array<std::uint32_t, kWarpSize> committed_{};
  std::array<std::uint32_t, kWarpSize> open_copies_{};
  std::array<std::vector<Epoch>, kWarpSize> retire_epoch_;
  std::array<std::vector<std::uint32_t>, kWarpSize> copies_in_group_;
  std::array<std::vector<Tracked>, kWarpSize> tracked_;
  std::array<std::uint32_t, kWarpSize> tracked_groups_{};  ///< groups that some barrier phase covers
  std::array<std::vector<Wait>, kWarpSize> waits_;
};

}  // namespace handoff::machine
