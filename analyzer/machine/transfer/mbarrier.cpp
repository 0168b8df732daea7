// SPDX-License-Identifier: Apache-2.0
// mbarrier operations of the executing CTA (PTX ISA, "mbarrier"), and cp.async.mbarrier.arrive.
//
// Asynchronous arrivals are delivered at once: a canonical choice among the legal moments. What it must not hide, a
// phase that could complete without them, is what the pending count of the object decides, whatever the moment.
#include "analyzer/machine/address.h"
#include "analyzer/machine/executor.h"

namespace handoff::machine {

namespace {

/// The opaque state that an arrive returns: the phase it was made in, and the pending count before it.
constexpr std::uint64_t makeToken(Phase phase, std::uint32_t pending) {
  return (std::uint64_t{phase} << 32) | pending;
}
constexpr Phase phaseOf(std::uint64_t token) { return static_cast<Phase>(token >> 32); }

}  // namespace

// Calls f(address, lanes) for each distinct object that the step's lanes name.
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
      if (address >> kClusterShift) {
        addLimit("'" + step.op.decoded->opcode + "' on another CTA's barrier is not modelled", step.op.instr);
        continue;
      }
      if (checkSharedRange(step, address, 8, same)) f(address, same);
    }
  }
}

MbarrierObject* Executor::mbarrierAt(const Step& step, std::uint64_t address, LaneMask lanes) {
  const auto it = cta_.mbarriers.find(address);
  if (it == cta_.mbarriers.end() || !it->second.isLive()) {
    addMisuse(step, {.kind = Misuse::Kind::kUninitializedBarrier, .lanes = lanes, .address = address});
    return nullptr;
  }
  MbarrierObject& object = it->second;
  const EventId init = object.initEvent();
  const unsigned init_lane = lowestLane(outcome_.log[init].lanes);
  forEachLane(lanes, [&](unsigned lane) {
    if (isStartOrdered(init, init_lane, step.warp, lane)) return;
    addMisuse(step, {.kind = Misuse::Kind::kBarrierInitUnordered, .lanes = laneBit(lane), .address = address,
                     .other = init});
  });
  return &object;
}

void Executor::initMbarrier(const Step& step, std::uint64_t address, LaneMask lanes) {
  const unsigned count_operand = addressOperand(step.op) + 1;
  const auto count = count_operand < step.op.arg_count ? uniformValue(step.warp, arg(step.op, count_operand), lanes)
                                                       : std::nullopt;
  if (!count) {
    addLimit("the count of 'mbarrier.init' is not known before the launch", step.op.instr);
    return;
  }
  const EventId event = log(step, EventKind::kMbarrierInit, lanes, static_cast<std::uint32_t>(*count));
  const auto [it, is_new] = cta_.mbarriers.try_emplace(address, next_actor_);
  if (is_new) next_actor_ += 2;
  if (it->second.isLive()) {
    addMisuse(step, {.kind = Misuse::Kind::kReinitialized, .event = event, .lanes = lanes, .address = address,
                     .value = it->second.isIdle(), .other = it->second.initEvent()});
  }
  it->second.init(static_cast<std::uint32_t>(*count), event);
  progress();
  wakePollers();
}

// An arrival counts for whatever phase is open when it comes. It is sure to be the one that the canonical schedule met
// only if the thread knows all earlier phases to be complete; likewise a wait by parity, which a phase two turns
// earlier would satisfy as well.
void Executor::checkPhaseKnown(const Step& step, const MbarrierObject& object, LaneMask lanes, Phase completed,
                               EventId event, Misuse::Kind kind) {
  if (completed <= object.firstPhase()) return;
  forEachLane(lanes, [&](unsigned lane) {
    if (step.warp.clock.of(lane).at(object.timeActor()) >= completed) return;
    addMisuse(step, {.kind = kind, .event = event, .lanes = laneBit(lane), .value = completed - object.firstPhase(),
                     .other = object.initEvent()});
  });
}

bool Executor::arriveLanes(const Step& step, MbarrierObject& object, LaneMask lanes, std::uint32_t count,
                           EventId event) {
  bool completed = false;
  forEachLane(lanes, [&](unsigned) {
    if (object.wouldUnderflow(count)) {
      addMisuse(step, {.kind = Misuse::Kind::kOverArrival, .event = event, .lanes = lanes, .value = count,
                       .wanted = object.pending(), .other = object.initEvent()});
    }
    completed |= object.arrive(count, event);
  });
  return completed;
}

void Executor::arriveMbarrier(const Step& step, const ptx::Mbarrier& effect, std::uint64_t address, LaneMask lanes) {
  MbarrierObject* object = mbarrierAt(step, address, lanes);
  if (object == nullptr) return forgetDestinations(step);
  const unsigned operand = addressOperand(step.op) + 1;
  const bool has_bytes = effect.op == ptx::MbarrierOp::kArriveExpectTx || effect.op == ptx::MbarrierOp::kArriveDropExpectTx;
  std::uint64_t argument = 1;
  if (operand < step.op.arg_count) {
    const auto given = uniformValue(step.warp, arg(step.op, operand), lanes);
    if (!given) addLimit("the operand of '" + step.op.decoded->opcode + "' is not known before the launch", step.op.instr);
    argument = given.value_or(1);
  }
  const auto count = static_cast<std::uint32_t>(has_bytes ? 1 : argument);
  const EventId event = log(step, EventKind::kMbarrierArrive, lanes, object->phase());
  checkPhaseKnown(step, *object, lanes, object->phase(), event, Misuse::Kind::kEarlyArrival);
  const bool is_drop = effect.op == ptx::MbarrierOp::kArriveDrop || effect.op == ptx::MbarrierOp::kArriveDropExpectTx;
  bool completed = false;
  Lanes token;
  // One lane after the other: each gets the state before its own arrival, and the last one may complete the phase.
  // Together they publish one clock unless the phase turns between them.
  const bool at_once = std::uint64_t{count} * static_cast<unsigned>(std::popcount(lanes)) <= object->pending();
  const bool releases = step.op.decoded->sem != ptx::Sem::kRelaxed;
  if (at_once && releases) step.warp.clock.publish(lanes, object->openClock());
  if (effect.is_no_complete && std::uint64_t{count} * static_cast<unsigned>(std::popcount(lanes)) >= object->pending()) {
    addMisuse(step, {.kind = Misuse::Kind::kOverArrival, .event = event, .lanes = lanes, .value = count,
                     .wanted = object->pending(), .other = object->initEvent()});
  }
  forEachLane(lanes, [&](unsigned lane) {
    if (!releases) object->openClock().joinTime(step.warp.clock.of(lane), firstBarrierActor());
    if (!at_once && releases) {
      step.warp.clock.publish(laneBit(lane), object->openClock());
    }
    token.word[lane] = makeToken(object->phase(), object->pending());
    if (has_bytes) object->expect(static_cast<std::int64_t>(argument), event);
    if (is_drop) object->dropExpected(count);
    completed |= arriveLanes(step, *object, laneBit(lane), count, event);
  });
  if (step.op.dst_count != 0) assign(step.warp, arg(step.op, 0), token, lanes);
  progress();
  if (completed) wakePollers();
}

void Executor::waitMbarrier(const Step& step, const ptx::Mbarrier& effect, std::uint64_t address, LaneMask lanes) {
  MbarrierObject* object = mbarrierAt(step, address, lanes);
  const unsigned operand = addressOperand(step.op) + 1;
  const Lanes& argument = operand < step.op.arg_count ? value(step.warp, arg(step.op, operand).slot) : unknown_lanes_;
  if ((argument.unknown & lanes) != 0) {
    addLimit("the phase that '" + step.op.decoded->opcode + "' waits for is not known before the launch", step.op.instr);
    return forgetDestinations(step);
  }
  LaneMask complete = 0;
  forEachLane(object == nullptr ? 0 : lanes, [&](unsigned lane) {
    const bool done = effect.is_parity ? object->isParityComplete(argument.word[lane] & 1)
                                       : object->phase() > phaseOf(argument.word[lane]);
    complete |= done ? laneBit(lane) : 0;
  });
  Lanes result;
  forEachLane(complete, [&](unsigned lane) { result.word[lane] = 1; });
  if (complete != 0 && options_.fail_first_polls &&
      failed_polls_.emplace(step.warp.id, step.index, address, object->phase()).second) {
    return assign(step.warp, arg(step.op, 0), Lanes{}, lanes);
  }
  if (complete != 0) {
    const EventId event = log(step, EventKind::kMbarrierWait, complete, object->phase() - 1);
    if (effect.is_parity && object->phase() > object->firstPhase()) {
      checkPhaseKnown(step, *object, complete, object->phase() - 1, event, Misuse::Kind::kEarlyWait);
    }
    if (step.op.decoded->sem != ptx::Sem::kRelaxed) step.warp.clock.learn(complete, object->completedClock());
    step.warp.clock.learn(complete, object->timeActor(), object->phase());
    return assign(step.warp, arg(step.op, 0), result, lanes);
  }
  const std::size_t f = lanes == step.lanes ? isolate(step) : step.fragment;
  Fragment& fragment = step.warp.fragments[f];
  if (fragment.may_fail_poll || lanes != step.lanes) {
    fragment.may_fail_poll = false;
    return assign(step.warp, arg(step.op, 0), result, lanes);
  }
  fragment.state = Fragment::State::kPolling;
  fragment.object = address;
  fragment.pc = step.index;
}

void Executor::wakePollers() {
  for (Warp& warp : cta_.warps) {
    for (Fragment& fragment : warp.fragments) {
      if (fragment.state == Fragment::State::kPolling) fragment.state = Fragment::State::kReady;
    }
  }
}

void Executor::operator()(const ptx::Mbarrier& effect, const Step& step) {
  if (effect.op == ptx::MbarrierOp::kPendingCount) {
    Lanes pending = value(step.warp, arg(step.op, 1).slot);
    for (std::uint64_t& word : pending.word) word &= 0xffffffff;
    return assign(step.warp, arg(step.op, 0), pending, step.lanes);
  }
  forEachMbarrier(step, [&](std::uint64_t address, LaneMask lanes) {
    switch (effect.op) {
      case ptx::MbarrierOp::kInit: return initMbarrier(step, address, lanes);
      case ptx::MbarrierOp::kInval:
        // Who may invalidate when is a matter of the object's owner; libcu++ counts references for it.
        log(step, EventKind::kMbarrierInval, lanes);
        if (const auto it = cta_.mbarriers.find(address); it != cta_.mbarriers.end()) it->second.invalidate();
        return;
      case ptx::MbarrierOp::kExpectTx:
      case ptx::MbarrierOp::kCompleteTx: {
        MbarrierObject* object = mbarrierAt(step, address, lanes);
        const auto bytes = uniformValue(step.warp, arg(step.op, addressOperand(step.op) + 1), lanes);
        if (object == nullptr || !bytes) return notModelled(step);
        const EventId event = log(step, EventKind::kMbarrierExpect, lanes, static_cast<std::uint32_t>(*bytes));
        forEachLane(lanes, [&](unsigned) {
          if (effect.op == ptx::MbarrierOp::kExpectTx) {
            object->expect(static_cast<std::int64_t>(*bytes), event);
          } else {
            object->complete(static_cast<std::int64_t>(*bytes), event);
          }
        });
        progress();
        return wakePollers();
      }
      case ptx::MbarrierOp::kArrive:
      case ptx::MbarrierOp::kArriveDrop:
      case ptx::MbarrierOp::kArriveExpectTx:
      case ptx::MbarrierOp::kArriveDropExpectTx: return arriveMbarrier(step, effect, address, lanes);
      case ptx::MbarrierOp::kTestWait:
      case ptx::MbarrierOp::kTryWait: return waitMbarrier(step, effect, address, lanes);
      case ptx::MbarrierOp::kPendingCount: return;
    }
  });
}

void Executor::operator()(const ptx::CpAsyncMbarrierArrive& effect, const Step& step) {
  forEachMbarrier(step, [&](std::uint64_t address, LaneMask lanes) {
    MbarrierObject* object = mbarrierAt(step, address, lanes);
    if (object == nullptr) return;
    const EventId event = log(step, EventKind::kCopyArrive, lanes, object->phase());
    checkPhaseKnown(step, *object, lanes, object->phase(), event, Misuse::Kind::kEarlyArrival);
    bool completed = false;
    forEachLane(lanes, [&](unsigned lane) {
      // Only the thread's earlier copies are released, not its other accesses: no clock is published but time.
      object->openClock().joinTime(step.warp.clock.of(lane), firstBarrierActor());
      step.warp.copies.track(laneBit(lane), event, object->actor(), object->phase());
      if (!effect.is_noinc) object->raisePending();
      completed |= arriveLanes(step, *object, laneBit(lane), 1, event);
    });
    progress();
    if (completed) wakePollers();
  });
}

}  // namespace handoff::machine
