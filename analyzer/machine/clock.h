// SPDX-License-Identifier: Apache-2.0
// Vector clocks: what one thread knows to have happened in all others.
//
// A component belongs to an actor: each thread of the CTA is one, and each mbarrier object is two, whose time is the
// number of phases it has completed: one says whose data is visible, the other only that the phase is over. Time within a warp is one counter, its *epoch*: it advances whenever a lane of
// the warp publishes its clock. An event of lane l at epoch e is known to an observer whose component for l is >= e.
//
// One counter a warp instead of one a lane is sound, since a clock still has one component a lane: lane 0 publishing
// at epoch e says nothing about lane 1 unless lane 0 knew lane 1's events. It keeps the 32 clocks of a convergent warp
// equal, so that they are shared; a clock is immutable once published and copied on change.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "analyzer/machine/lanes.h"

namespace handoff::machine {

using ActorId = std::uint32_t;
/// 0: never; the first events of a warp have epoch 1.
using Epoch = std::uint32_t;

class Clock {
 public:
  Epoch at(ActorId actor) const { return actor < times_.size() ? times_[actor] : 0; }
  void raise(ActorId actor, Epoch epoch) {
    if (actor >= times_.size()) times_.resize(actor + 1, 0);
    if (times_[actor] < epoch) times_[actor] = epoch;
  }
  void join(const Clock& other);
  /// Joins only what is known about *time*: the odd components from `first` on (MbarrierObject::timeActor).
  void joinTime(const Clock& other, ActorId first);
  bool covers(const Clock& other) const;
  /// All these lanes of the warp whose first lane is `first` are known up to `epoch`.
  bool coversWarp(ActorId first, LaneMask lanes, Epoch epoch) const {
    if (first + kWarpSize > times_.size()) return false;
    LaneMask behind = 0;
    for (unsigned lane = 0; lane < kWarpSize; ++lane) behind |= LaneMask{times_[first + lane] < epoch} << lane;
    return (behind & lanes) == 0;
  }

 private:
  std::vector<Epoch> times_;
};

using ClockRef = std::shared_ptr<const Clock>;

/// The clocks of one warp's lanes. Lanes with equal knowledge share one clock.
class WarpClock {
 public:
  explicit WarpClock(ActorId first_lane);

  const Clock& of(unsigned lane) const { return *known_[lane]; }
  bool isShared(LaneMask lanes) const;  ///< all these lanes hold the same clock object
  Epoch epoch() const { return epoch_; }
  ActorId actorOf(unsigned lane) const { return first_lane_ + lane; }

  /// The release half: adds to `target` what the lanes know, with their own events so far, and advances the epoch.
  void publish(LaneMask lanes, Clock& target);
  /// The acquire half: the lanes learn all of `source`.
  void learn(LaneMask lanes, const Clock& source);
  /// The acquire half of a barrier whose clock already holds what these lanes published at it.
  void adopt(LaneMask lanes, const ClockRef& source);
  /// The lanes learn one component (a completed mbarrier phase).
  void learn(LaneMask lanes, ActorId actor, Epoch epoch);
  /// bar.warp.sync: all lanes of the mask learn from each other.
  void exchange(LaneMask lanes);

  /// True when the lane knows of an event of `actor` at `epoch`; a lane knows its own past.
  bool knows(unsigned lane, ActorId actor, Epoch epoch) const {
    return actor == actorOf(lane) || known_[lane]->at(actor) >= epoch;
  }

 private:
  ActorId first_lane_;
  Epoch epoch_ = 1;
  std::array<ClockRef, kWarpSize> known_;
};

}  // namespace handoff::machine
