// SPDX-License-Identifier: Apache-2.0
// mbarrier objects: initialisation and arrivals (PTX ISA, "mbarrier"), and cp.async.mbarrier.arrive.
//
// Asynchronous arrivals are delivered at once: a canonical choice among the legal moments. What it must not hide, a
// phase that could complete without them, is what the pending count of the object decides, whatever the moment.
#include <algorithm>

#include "analyzer/machine/address.h"
#include "analyzer/machine/executor.h"
#include "analyzer/machine/run_trace.h"
#include "analyzer/machine/token.h"

namespace handoff::machine {

namespace {

constexpr std::uint32_t kObjectBytes = 8;
/// Counts of arrivals (PTX ISA, "mbarrier": Contents).
constexpr std::uint64_t kMaxCount = (1 << 20) - 1;

}  // namespace

// Names the object, or says why it cannot be one. Only arrivals and transactions may name another CTA's.
std::optional<Executor::Named> Executor::nameMbarrier(const Step& step, std::uint64_t address, LaneMask lanes) {
  if (const Cta* at = run_.cluster.ctaAt(step.warp, address); at != nullptr && address % kObjectBytes != 0) {
    addMisuse(step, {.kind = Misuse::Kind::kMisalignedBarrier, .lanes = lanes, .address = reportedAddress(*at, withinCta(address)),
                     .wanted = kObjectBytes});
    return std::nullopt;
  }
  Cta* const cta = checkSharedRange(step, address, 8, lanes);
  if (cta == nullptr) return std::nullopt;
  Named named{cta, withinCta(address), cta->rank != step.warp.cta};
  if (!named.is_remote) return named;
  const auto* effect = std::get_if<ptx::Mbarrier>(&step.op.decoded->effect);
  bool may_be_remote = effect == nullptr;  // copies and commits
  if (effect != nullptr) {
    using ptx::MbarrierOp;
    const bool has_token = step.op.dst_count != 0 && arg(step.op, 0).kind != Arg::Kind::kSink;
    may_be_remote = effect->op == MbarrierOp::kExpectTx || effect->op == MbarrierOp::kCompleteTx ||
                    ((effect->op == MbarrierOp::kArrive || effect->op == MbarrierOp::kArriveDrop ||
                      effect->op == MbarrierOp::kArriveExpectTx || effect->op == MbarrierOp::kArriveDropExpectTx) &&
                     !has_token);
  }
  if (std::holds_alternative<ptx::CpAsyncMbarrierArrive>(step.op.decoded->effect)) may_be_remote = false;
  if (may_be_remote) return named;
  addMisuse(step, {.kind = Misuse::Kind::kRemoteBarrierOp, .lanes = lanes, .address = reported(named), .value = cta->rank});
  return std::nullopt;
}

// Calls f(named, lanes) for each distinct object that the step's lanes name.
template <typename F>
void Executor::forEachMbarrier(const Step& step, F&& f) {
  const unsigned a = addressOperand(step.op);
  if (a == step.op.arg_count) return notModelled(step);
  for (const Resolved& part : resolve(step, arg(step.op, a), step.op.decoded->space())) {
    if (part.space != ptx::Space::kShared) {
      addLimit("'" + step.op.decoded->opcode + "' on an address outside of shared memory", step.op.instr);
      continue;
    }
    LaneMask rest = part.lanes;
    while (rest != 0) {
      const std::uint64_t address = part.address.word[lowestLane(rest)];
      LaneMask same = 0;
      forEachLane(rest, [&](unsigned lane) { same |= part.address.word[lane] == address ? laneBit(lane) : 0; });
      rest &= ~same;
      if (const auto named = nameMbarrier(step, address, same)) f(*named, same);
    }
  }
}

MbarrierObject* Executor::mbarrierAt(const Step& step, const Named& named, LaneMask lanes) {
  const auto it = named.cta->mbarriers.find(named.address);
  if (it == named.cta->mbarriers.end() || !it->second.isLive()) {
    addMisuse(step, {.kind = Misuse::Kind::kUninitializedBarrier, .lanes = lanes, .address = reported(named)});
    return nullptr;
  }
  MbarrierObject& object = it->second;
  object.noteUser({step.warp.id, step.warp.instruction_epoch, lanes});
  forEachLane(lanes, [&](unsigned lane) {
    if (step.warp.clock.of(lane).at(object.initActor()) >= object.lives()) return;
    addMisuse(step, {.kind = Misuse::Kind::kBarrierInitUnordered, .lanes = laneBit(lane), .address = reported(named),
                     .other = object.initEvent()});
  });
  return &object;
}

// An object ends, or begins anew: no other thread may still be about to use it, and its phases have to be over. Lanes of
// one warp count as together (libcu++ has the last lane of a match invalidate for all of them).
void Executor::checkUnused(const Step& step, const MbarrierObject& object, const Named& named, LaneMask lanes, EventId event) {
  const auto mayStillUse = [&](unsigned lane) {
    return std::any_of(object.users().begin(), object.users().end(), [&](const MbarrierObject::Arriver& user) {
      return user.warp != step.warp.id && !step.warp.clock.of(lane).reachesWarp(user.warp * kWarpSize, user.epoch, user.lanes);
    });
  };
  forEachLane(lanes, [&](unsigned lane) {
    if (!mayStillUse(lane)) return;
    addMisuse(step, {.kind = Misuse::Kind::kBarrierInUse, .event = event, .lanes = laneBit(lane), .address = reported(named),
                     .other = object.initEvent()});
  });
}

void Executor::initMbarrier(const Step& step, const Named& named, LaneMask lanes) {
  const unsigned count_operand = addressOperand(step.op) + 1;
  const auto count = count_operand < step.op.arg_count ? uniformValue(step.warp, arg(step.op, count_operand), lanes)
                                                       : std::nullopt;
  if (!count) {
    addLimit("the count of 'mbarrier.init' is not known before the launch", step.op.instr);
    return;
  }
  const EventId event = log(step, EventKind::kMbarrierInit, lanes, static_cast<std::uint32_t>(*count));
  if (const std::uint64_t arrivals = *count & 0xffffffff; arrivals == 0 || arrivals > kMaxCount) {
    addMisuse(step, {.kind = Misuse::Kind::kBadArrivalCount, .event = event, .lanes = lanes, .address = reported(named),
                     .value = arrivals, .wanted = kMaxCount});
  }
  const auto [it, is_new] = named.cta->mbarriers.try_emplace(named.address, next_actor_);
  if (is_new) next_actor_ += MbarrierObject::kActors;
  MbarrierObject& object = it->second;
  if (object.isLive()) {
    addMisuse(step, {.kind = Misuse::Kind::kReinitialized, .event = event, .lanes = lanes, .address = reported(named),
                     .value = object.isIdle(), .other = object.initEvent()});
  }
  checkUnused(step, object, named, lanes, event);
  object.init(static_cast<std::uint32_t>(*count), event);
  races_.writeShared({named.cta, named.address, kObjectBytes, lanes}, event);
  if (options_.trace != nullptr)
    options_.trace->objects.push_back({object.actor(), reported(named), static_cast<std::uint32_t>(*count)});
  step.warp.clock.learn(lanes, object.initActor(), object.lives());
  progress();
  wakePollers();
}

// The thread knows the first `completed` phases to be over: somebody told it, or it knows all arrivals of the last one to
// have been made. Lanes of a warp that arrive together at the barriers of several CTAs count as one.
bool Executor::isPhaseOver(const Warp& warp, unsigned lane, const MbarrierObject& object, Phase completed) const {
  const Clock& clock = warp.clock.of(lane);
  if (clock.atTime(object.actor()) >= completed) return true;
  if (completed + 1 < object.phase()) return false;
  const auto& arrivers = completed == object.phase() ? object.completedArrivers() : object.earlierArrivers();
  if (arrivers.empty()) return false;
  return std::all_of(arrivers.begin(), arrivers.end(), [&](const MbarrierObject::Arriver& arriver) {
    const bool is_own = arriver.warp == warp.id && (arriver.lanes & laneBit(lane)) != 0;
    return is_own || clock.reachesWarp(arriver.warp * kWarpSize, arriver.epoch, arriver.lanes);
  });
}

// An arrival counts for whatever phase is open when it comes. It is sure to be the one that the canonical schedule met
// only if the thread knows all earlier phases to be complete; likewise a wait by parity, which a phase two turns
// earlier would satisfy as well.
void Executor::checkPhaseKnown(const Step& step, const MbarrierObject& object, const Named& named, LaneMask lanes,
                               Phase completed, EventId event, Misuse::Kind kind) {
  if (completed <= object.firstPhase()) return;
  forEachLane(lanes, [&](unsigned lane) {
    if (isPhaseOver(step.warp, lane, object, completed)) return;
    addMisuse(step, {.kind = kind, .event = event, .lanes = laneBit(lane), .address = reported(named),
                     .value = completed - object.firstPhase(), .other = object.initEvent()});
  });
}

bool Executor::arriveLanes(const Step& step, MbarrierObject& object, const Named& named, LaneMask lanes,
                           std::uint32_t count, EventId event) {
  bool completed = false;
  forEachLane(lanes, [&](unsigned lane) {
    if (object.wouldUnderflow(count)) {
      addMisuse(step, {.kind = Misuse::Kind::kOverArrival, .event = event, .lanes = lanes, .address = reported(named),
                       .value = count, .wanted = object.pending(), .other = object.initEvent()});
    }
    // Lanes of one instruction go together, though each may arrive at the barrier of another CTA.
    object.noteArriver(step.warp.id, step.warp.instruction_epoch, step.lanes);
    object.settleExpects([&](const MbarrierObject::PendingExpect& expect) {
      return step.warp.clock.knows(View::kTime, lane, expect.warp * kWarpSize + expect.lane, expect.epoch);
    });
    if (object.arrive(count, event)) {
      completed = true;
      afterPhase(object, named);
    }
  });
  return completed;
}

// What an arrival hands over depends on its semantics and on whether its scope reaches the waiter: a barrier of another
// CTA needs cluster scope (PTX ISA, "Morally strong operations"). A narrower one still counts, and still comes after
// what its thread did before.
void Executor::releaseInto(const Step& step, MbarrierObject& object, const Named& named, LaneMask lanes) {
  WarpClock& clock = step.warp.clock;
  const ptx::Decoded& decoded = *step.op.decoded;
  const bool is_wide = decoded.scope != ptx::Scope::kNone && decoded.scope != ptx::Scope::kCta;
  if (decoded.sem == ptx::Sem::kRelaxed) {
    clock.publishTime(lanes, object.openClock());
    forEachLane(lanes, [&](unsigned lane) {
      const auto& released = named.is_remote ? step.warp.released_afar[lane] : step.warp.released_by_fence[lane];
      if (released && (is_wide || !named.is_remote)) (named.is_remote ? object.openRemoteClock() : object.openClock()).join(*released);
    });
    return;
  }
  if (!named.is_remote) return clock.publish(lanes, object.openClock());
  if (is_wide) return clock.publish(lanes, object.openRemoteClock());
  clock.publishPast(lanes, object.openClock());
}

void Executor::arriveMbarrier(const Step& step, const ptx::Mbarrier& effect, const Named& named, LaneMask lanes) {
  MbarrierObject* object = mbarrierAt(step, named, lanes);
  if (object == nullptr) return forgetDestinations(step);
  const unsigned operand = addressOperand(step.op) + 1;
  const bool has_bytes = effect.op == ptx::MbarrierOp::kArriveExpectTx || effect.op == ptx::MbarrierOp::kArriveDropExpectTx;
  std::uint64_t argument = 1;
  if (operand < step.op.arg_count) {
    // Each lane arrives with its own operand; those with the same one go together.
    const Lanes& words = value(step.warp, arg(step.op, operand).slot);
    if ((words.unknown & lanes) != 0) return unknownCopy(step);
    argument = words.word[lowestLane(lanes)];
    LaneMask same = 0;
    forEachLane(lanes, [&](unsigned lane) { same |= words.word[lane] == argument ? laneBit(lane) : 0; });
    if (same != lanes) {
      arriveMbarrier(step, effect, named, same);
      return arriveMbarrier(step, effect, named, lanes & ~same);
    }
  }
  const auto count = static_cast<std::uint32_t>(has_bytes ? 1 : argument);
  const EventId event = log(step, EventKind::kMbarrierArrive, lanes, object->phase());
  if (options_.trace != nullptr) options_.trace->arrivals.push_back({event, object->actor(), object->phase() + 1});
  forEachLane(lanes, [&](unsigned lane) { usePeer(step, *named.cta, event, lane, Misuse::Kind::kBarrierInitUnordered); });
  if (named.is_remote) {
    // That the phase is over also says that this arrival has been made.
    forEachLane(lanes, [&](unsigned lane) {
      MemoryUse& use = named.cta->uses[{step.warp.clock.actorOf(lane), true}];
      use.barrier = object->actor();
      use.phases = object->phase() + 1;
      use.has_barrier = true;
    });
  }
  checkPhaseKnown(step, *object, named, lanes, object->phase(), event, Misuse::Kind::kEarlyArrival);
  const bool is_drop = effect.op == ptx::MbarrierOp::kArriveDrop || effect.op == ptx::MbarrierOp::kArriveDropExpectTx;
  const std::uint64_t total = std::uint64_t{count} * static_cast<unsigned>(std::popcount(lanes));
  if (effect.is_no_complete && total >= object->pending()) {
    addMisuse(step, {.kind = Misuse::Kind::kCompletingNoComplete, .event = event, .lanes = lanes, .address = reported(named),
                     .value = count, .wanted = object->pending(), .other = object->initEvent()});
  }
  if (is_drop && total >= object->expected()) {
    addMisuse(step, {.kind = Misuse::Kind::kEmptyExpectedCount, .event = event, .lanes = lanes, .address = reported(named),
                     .value = total, .wanted = object->expected(), .other = object->initEvent()});
  }
  bool completed = false;
  Lanes token;
  // One lane after the other: each gets the state before its own arrival, and the last one may complete the phase.
  // Together they publish one clock unless the phase turns between them.
  const bool at_once = total <= object->pending();
  const Phase first = object->phase();
  if (at_once) releaseInto(step, *object, named, lanes);
  forEachLane(lanes, [&](unsigned lane) {
    // The phase turned under the lanes before: on another schedule this one would have come first.
    if (object->phase() != first) checkPhaseKnown(step, *object, named, laneBit(lane), object->phase(), event, Misuse::Kind::kEarlyArrival);
    if (!at_once) releaseInto(step, *object, named, laneBit(lane));
    token.word[lane] = makeToken(object->phase(), object->pending());
    if (has_bytes) expectBytes(step, *object, named, lane, static_cast<std::int64_t>(argument), event);
    if (is_drop) object->dropExpected(count);
    completed |= arriveLanes(step, *object, named, laneBit(lane), count, event);
  });
  if (step.op.dst_count != 0) assign(step.warp, arg(step.op, 0), token, lanes);
  progress();
  if (completed) wakePollers();
}

// A phase has just been completed: what its completion shows about threads that did not know of it.
void Executor::afterPhase(MbarrierObject& object, const Named& named) {
  for (const MbarrierObject::Waiter& waiter : object.takeLapped()) {
    const Event& wait = outcome_.log[waiter.event];
    Warp& warp = run_.cluster.warps[waiter.warp];
    const Step at{warp, 0, program_.ops[wait.op], wait.op, wait.lanes};
    addMisuse(at, {.kind = Misuse::Kind::kLappedWait, .event = waiter.event, .lanes = wait.lanes, .address = reported(named),
                   .value = waiter.phase - object.firstPhase(), .other = outcome_.log.end() - 1});
  }
  for (const EventId expect : object.takeLateExpects()) {
    const Event& event = outcome_.log[expect];
    const Step at{run_.cluster.warps[event.warp], 0, program_.ops[event.op], event.op, event.lanes};
    addMisuse(at, {.kind = Misuse::Kind::kLateExpect, .event = expect, .lanes = event.lanes, .address = reported(named),
                   .other = object.initEvent()});
  }
}

void Executor::wakePollers() {
  for (Warp& warp : run_.cluster.warps) {
    for (Fragment& fragment : warp.fragments) {
      const bool waits = fragment.state == Fragment::State::kPolling || fragment.state == Fragment::State::kAtMmaWait ||
                         fragment.state == Fragment::State::kAtRegisterPool;
      if (waits) fragment.state = Fragment::State::kReady;
    }
  }
}

void Executor::operator()(const ptx::Mbarrier& effect, const Step& step) {
  if (effect.op == ptx::MbarrierOp::kPendingCount) {
    Lanes pending = value(step.warp, arg(step.op, 1).slot);
    for (std::uint64_t& word : pending.word) word = pendingOf(word);
    return assign(step.warp, arg(step.op, 0), pending, step.lanes);
  }
  forEachMbarrier(step, [&](const Named& named, LaneMask lanes) {
    switch (effect.op) {
      case ptx::MbarrierOp::kInit: return initMbarrier(step, named, lanes);
      case ptx::MbarrierOp::kInval: {
        const EventId event = log(step, EventKind::kMbarrierInval, lanes);
        races_.writeShared({named.cta, named.address, kObjectBytes, lanes}, event);
        const auto it = named.cta->mbarriers.find(named.address);
        if (it == named.cta->mbarriers.end()) return;
        checkUnused(step, it->second, named, lanes, event);
        return it->second.invalidate();
      }
      case ptx::MbarrierOp::kExpectTx:
      case ptx::MbarrierOp::kCompleteTx: return transact(step, effect, named, lanes);
      case ptx::MbarrierOp::kArrive:
      case ptx::MbarrierOp::kArriveDrop:
      case ptx::MbarrierOp::kArriveExpectTx:
      case ptx::MbarrierOp::kArriveDropExpectTx: return arriveMbarrier(step, effect, named, lanes);
      case ptx::MbarrierOp::kTestWait:
      case ptx::MbarrierOp::kTryWait: return waitMbarrier(step, effect, named, lanes);
      case ptx::MbarrierOp::kPendingCount: return;
    }
  });
}

void Executor::operator()(const ptx::CpAsyncMbarrierArrive& effect, const Step& step) {
  forEachMbarrier(step, [&](const Named& named, LaneMask lanes) {
    MbarrierObject* object = mbarrierAt(step, named, lanes);
    if (object == nullptr) return;
    const EventId event = log(step, EventKind::kCopyArrive, lanes, object->phase());
    outcome_.log.setBarrier(event, reported(named));
    if (options_.trace != nullptr) options_.trace->tracked.push_back({event, object->actor(), object->phase() + 1});
    checkPhaseKnown(step, *object, named, lanes, object->phase(), event, Misuse::Kind::kEarlyArrival);
    bool completed = false;
    const Phase first = object->phase();
    forEachLane(lanes, [&](unsigned lane) {
      if (object->phase() != first) checkPhaseKnown(step, *object, named, laneBit(lane), object->phase(), event, Misuse::Kind::kEarlyArrival);
      // Only the thread's earlier copies are released, not its other accesses: no clock is published but time.
      step.warp.clock.publishTime(laneBit(lane), object->openClock());
      step.warp.copies.track(laneBit(lane), event, object->actor(), object->phase());
      object->noteAsyncArrival();
      if (effect.is_noinc) {
        completed |= arriveLanes(step, *object, named, laneBit(lane), 1, event);
      } else {
        // Nothing of the count waits for it: it has to be executed before an arrival that does hold the phase.
        object->raisePending();
        object->notePendingExpect({step.warp.id, lane, step.warp.instruction_epoch, event});
        if (object->arrive(1, event)) afterPhase(*object, named), completed = true;
      }
    });
    progress();
    if (completed) wakePollers();
  });
}

}  // namespace handoff::machine
