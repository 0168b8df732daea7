// SPDX-License-Identifier: Apache-2.0
// Completion of each kind of access, as an observer knows it.
#include "analyzer/machine/order.h"

#include <algorithm>

namespace handoff::machine {

bool Order::isPhaseKnown(ActorId barrier, Epoch phases, Observer observer, View view) {
  const Clock& clock = observer.warp.clock.of(observer.lane);
  if (view == View::kPast) return clock.atPast(barrier) >= phases;
  return (view == View::kTime ? clock.atTime(barrier) : clock.at(view, barrier)) >= phases;
}

bool Order::isStartKnown(Access first, Observer observer, View view) const {
  const Event& event = run_.log()[first.event];
  return observer.warp.clock.knows(view, observer.lane, event.warp * kWarpSize + first.lane, event.epoch);
}

bool Order::isCopyKnown(Access copy, Observer observer, View view) const {
  const Event& event = run_.log()[copy.event];
  const CopyGroups& groups = run_.cluster.warps[event.warp].copies;
  const std::uint32_t group = run_.log().groupOf(copy.event, copy.lane);
  const bool is_waited = groups.isRetired(copy.lane, group) &&
                         observer.warp.clock.knows(view, observer.lane, event.warp * kWarpSize + copy.lane,
                                                   groups.retireEpoch(copy.lane, group));
  if (is_waited) return true;
  const auto& tracked = groups.tracked(copy.lane);
  return std::any_of(tracked.begin(), tracked.end(), [&](const CopyGroups::Tracked& phase) {
    return copy.event < phase.upto && isPhaseKnown(phase.barrier, phase.known_from, observer, view);
  });
}

bool Order::isBulkKnown(Access copy, Part part, std::uint32_t cta, Observer observer, View view) const {
  const AsyncOp* op = run_.log().findOp(copy.event, copy.lane);
  if (op == nullptr) return false;
  const Event& event = run_.log()[copy.event];
  if (op->group != AsyncOp::kNoGroup) {
    const Warp& issuer = run_.cluster.warps[event.warp];
    const CopyGroups& groups = part == Part::kRead ? issuer.bulk_reads : issuer.bulk;
    return groups.isRetired(copy.lane, op->group) &&
           observer.warp.clock.knows(view, observer.lane, event.warp * kWarpSize + copy.lane,
                                     groups.retireEpoch(copy.lane, op->group));
  }
  return std::any_of(op->completions.begin(), op->completions.end(), [&](const AsyncOp::Completion& completion) {
    return (part == Part::kRead || completion.cta == cta) &&
           isPhaseKnown(completion.barrier, completion.phases, observer, view);
  });
}

// A multiplication is one operation of four warps: it is over when the wait of any of them says so (docs/soundness.md).
bool Order::isMmaKnown(Access mma, Observer observer, View view) const {
  const AsyncOp* op = run_.log().findOp(mma.event, mma.lane);
  if (op == nullptr) return false;
  if (op->group == AsyncOp::kNoGroup) {
    return std::any_of(op->completions.begin(), op->completions.end(), [&](const AsyncOp::Completion& completion) {
      return isPhaseKnown(completion.barrier, completion.phases, observer, view);
    });
  }
  const Warp& issuer = run_.cluster.warps[run_.log()[mma.event].warp];
  for (const Warp& warp : run_.cluster.warpgroupOf(issuer)) {
    if (!warp.mma.isRetired(0, op->group)) continue;
    if (isWarpKnown(warp, warp.mma.retireEpoch(0, op->group), observer, view)) return true;
  }
  return false;
}

// tcgen05.ld and .st: over when the warp's tcgen05.wait is.
bool Order::isTensorMoveKnown(Access move, Observer observer, View view) const {
  const AsyncOp* op = run_.log().findOp(move.event, move.lane);
  const Event& event = run_.log()[move.event];
  const Warp& warp = run_.cluster.warps[event.warp];
  const CopyGroups& groups = event.value == 0 ? warp.tensor_loads : warp.tensor_stores;
  return op != nullptr && groups.isRetired(move.lane, op->group) &&
         isWarpKnown(warp, groups.retireEpoch(move.lane, op->group), observer, view);
}

// The warp executes such waits together, so knowing any of its lanes to be past it is enough.
bool Order::isWarpKnown(const Warp& warp, Epoch epoch, Observer observer, View view) {
  for (unsigned lane = 0; lane < kWarpSize; ++lane) {
    if (observer.warp.clock.knows(view, observer.lane, warp.clock.actorOf(lane), epoch)) return true;
  }
  return false;
}

bool Order::isKnown(Access first, Part part, std::uint32_t cta, Observer observer, View view) const {
  switch (run_.log()[first.event].kind) {
    case EventKind::kCopy: return isCopyKnown(first, observer, view);
    case EventKind::kBulk:
    case EventKind::kAsyncStore: return isBulkKnown(first, part, cta, observer, view);
    case EventKind::kMma: return isMmaKnown(first, observer, view);
    case EventKind::kTensorMemory: return isTensorMoveKnown(first, observer, view);
    default: return isStartKnown(first, observer, view);
  }
}

}  // namespace handoff::machine
