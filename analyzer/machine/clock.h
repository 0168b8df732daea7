// SPDX-License-Identifier: Apache-2.0
// Vector clocks: what one thread knows to have happened in all others.
//
// A component belongs to an actor: each thread of the cluster is one, each completed generation of a barrier, and each
// mbarrier object, whose time is the number of phases it has completed. Time within a warp is one counter, its *epoch*:
// it advances whenever a lane of the warp publishes its clock. An event of lane l at epoch e is known to an observer
// whose component for l is >= e.
//
// One counter a warp instead of one a lane is sound, since a clock still has one component a lane: lane 0 publishing
// at epoch e says nothing about lane 1 unless lane 0 knew lane 1's events. It keeps the 32 clocks of a convergent warp
// equal, so that they are shared; a clock is immutable once published and copied on change.
//
// A clock has several *views* of the same actors, because PTX has several notions of "before":
//   order     causality order: what an acquire, a barrier or program order gives (Memory Consistency Model)
//   past      is over, though nothing makes its data visible: what came before an arrival of too narrow a scope
//   time      has been executed, no more: what came before relaxed arrivals and before the issue of a copy
//   fenced    causality order with a proxy fence for shared or for global memory on the path (Proxies)
//   returned  loads whose values were needed before the thread went on, and which therefore cannot be late
//   converged the same for the loads of a whole warp, at an instruction that the warp executes together
// All but the first stay empty, and cost nothing, in kernels without an operation that needs them.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "analyzer/machine/lanes.h"

namespace handoff::machine {

using ActorId = std::uint32_t;
/// 0: never; the first events of a warp have epoch 1.
using Epoch = std::uint32_t;

enum class View : std::uint8_t { kOrder, kPast, kTime, kFencedShared, kFencedGlobal, kReturned, kConverged };
inline constexpr unsigned kViews = 7;

class Clock {
 public:
  Epoch at(ActorId actor) const { return at(View::kOrder, actor); }
  Epoch at(View view, ActorId actor) const {
    const auto& times = views_[static_cast<unsigned>(view)];
    return actor < times.size() ? times[actor] : 0;
  }
  /// In causality order or merely past; or even that only in time.
  Epoch atPast(ActorId actor) const { return std::max(at(actor), at(View::kPast, actor)); }
  Epoch atTime(ActorId actor) const { return std::max(atPast(actor), at(View::kTime, actor)); }
  /// By actor; shorter than the number of actors when the rest is 0.
  const std::vector<Epoch>& times(View view) const { return views_[static_cast<unsigned>(view)]; }
  bool isEmpty(View view) const { return views_[static_cast<unsigned>(view)].empty(); }

  void raise(ActorId actor, Epoch epoch) { raise(View::kOrder, actor, epoch); }
  void raise(View view, ActorId actor, Epoch epoch);
  void join(const Clock& other);
  /// The other's order becomes past only: it came before, but hands nothing over.
  void joinPast(const Clock& other);
  /// The other's order and past came before in time.
  void joinTime(const Clock& other);
  /// A proxy fence: everything known so far is known to the other proxy, too.
  void fence(View fenced);
  bool covers(const Clock& other) const;
  /// All these lanes of the warp whose first lane is `first` are known up to `epoch`.
  bool coversWarp(ActorId first, LaneMask lanes, Epoch epoch) const {
    const auto& times = views_[0];
    if (first + kWarpSize > times.size()) return false;
    LaneMask behind = 0;
    for (unsigned lane = 0; lane < kWarpSize; ++lane) behind |= LaneMask{times[first + lane] < epoch} << lane;
    return (behind & lanes) == 0;
  }
  /// Some lane of the warp whose first lane is `first` has reached `epoch`, as far as time goes.
  bool reachesWarp(ActorId first, Epoch epoch, LaneMask lanes = kAllLanes) const {
    for (unsigned lane = 0; lane < kWarpSize; ++lane) {
      if ((lanes & laneBit(lane)) && atTime(first + lane) >= epoch) return true;
    }
    return false;
  }

 private:
  using Times = std::vector<Epoch>;
  static void joinTimes(Times& target, const Times& source);

  std::array<Times, kViews> views_;
};

using ClockRef = std::shared_ptr<const Clock>;

/// The clocks of one warp's lanes. Lanes with equal knowledge share one clock.
class WarpClock {
 public:
  explicit WarpClock(ActorId first_lane);

  const Clock& of(unsigned lane) const { return *known_[lane]; }
  /// All these lanes hold the same clock object.
  bool isShared(LaneMask lanes) const { return is_one_ || isShared(known_, lanes); }
  Epoch epoch() const { return epoch_; }
  ActorId actorOf(unsigned lane) const { return first_lane_ + lane; }

  /// The release half: adds to `target` what the lanes know, with their own events so far, and advances the epoch.
  void publish(LaneMask lanes, Clock& target);
  /// A release that hands nothing over (too narrow a scope): what the lanes know becomes the target's past.
  void publishPast(LaneMask lanes, Clock& target);
  /// Likewise in time only.
  void publishTime(LaneMask lanes, Clock& target);
  /// The acquire half: the lanes learn all of `source`.
  void learn(LaneMask lanes, const Clock& source);
  /// An acquire that hands nothing over: `source` becomes past.
  void learnPast(LaneMask lanes, const Clock& source);
  void learnTime(LaneMask lanes, const Clock& source);
  /// The acquire half of a barrier whose clock already holds what these lanes published at it.
  void adopt(LaneMask lanes, const ClockRef& source);
  /// The lanes learn one component (a completed mbarrier phase).
  void learn(LaneMask lanes, ActorId actor, Epoch epoch);
  /// The same in one view.
  void learn(LaneMask lanes, View view, ActorId actor, Epoch epoch);
  /// bar.warp.sync: all lanes of the mask learn from each other.
  void exchange(LaneMask lanes);
  /// fence.proxy.async: all that each lane knows, and its own events, pass into the fenced view.
  void fence(LaneMask lanes, View fenced);
  /// The lanes' own loads up to now have returned (kReturned, kConverged).
  void settleLoads(LaneMask lanes, View view);

  /// True when the lane knows of an event of `actor` at `epoch`; a lane knows its own past.
  bool knows(unsigned lane, ActorId actor, Epoch epoch) const {
    return actor == actorOf(lane) || known_[lane]->at(actor) >= epoch;
  }
  /// The same in another view. A lane's own events are in its order and past, but not fenced of themselves.
  bool knows(View view, unsigned lane, ActorId actor, Epoch epoch) const {
    if (view == View::kOrder) return knows(lane, actor, epoch);
    if (view == View::kPast) return actor == actorOf(lane) || known_[lane]->atPast(actor) >= epoch;
    if (view == View::kTime) return actor == actorOf(lane) || known_[lane]->atTime(actor) >= epoch;
    return known_[lane]->at(view, actor) >= epoch;
  }

 private:
  using Known = std::array<ClockRef, kWarpSize>;
  static bool isShared(const Known& known, LaneMask lanes);
  template <typename F> void change(LaneMask lanes, F&& f);
  void replace(LaneMask lanes, const ClockRef& clock);

  ActorId first_lane_;
  Epoch epoch_ = 1;
  Known known_;
  bool is_one_ = true;  ///< all lanes share: asked for every cell that a warp reads
};

}  // namespace handoff::machine
