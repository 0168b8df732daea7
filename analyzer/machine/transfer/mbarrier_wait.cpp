// SPDX-License-Identifier: Apache-2.0
// Waits for mbarrier phases, by token and by parity (PTX ISA, "mbarrier.test_wait, mbarrier.try_wait").
#include "analyzer/machine/executor.h"
#include "analyzer/machine/run_trace.h"
#include "analyzer/machine/token.h"

namespace handoff::machine {

// The wait has returned true: what the threads learn, and what it says about the schedule.
void Executor::observePhase(const Step& step, const ptx::Mbarrier& effect, MbarrierObject& object, const Named& named,
                            LaneMask lanes) {
  Warp& warp = step.warp;
  const Phase awaited = object.phase() - 1;
  const EventId event = log(step, EventKind::kMbarrierWait, lanes, awaited - object.firstPhase());
  outcome_.log.setBarrier(event, reported(named));
  if (options_.trace != nullptr) options_.trace->waits.push_back({event, object.actor(), object.phase()});
  const bool is_over = object.phase() > object.firstPhase();
  // A phase that the thread had waited for before, or the one "before the first": waiting for it orders nothing new.
  Phase& seen = warp.seen_phases.try_emplace({named.address, lowestLane(lanes)}, object.firstPhase()).first->second;
  outcome_.log.at(event).is_repeat = effect.is_parity && object.phase() <= seen;
  seen = std::max(seen, object.phase());
  if (effect.is_parity && is_over) {
    checkPhaseKnown(step, object, named, lanes, awaited, event, Misuse::Kind::kEarlyWait);
  }
  const ptx::Decoded& decoded = *step.op.decoded;
  const bool is_wide = decoded.scope != ptx::Scope::kNone && decoded.scope != ptx::Scope::kCta;
  if (decoded.sem != ptx::Sem::kRelaxed) {
    warp.clock.learn(lanes, object.completedClock());
    if (is_wide) {
      warp.clock.learn(lanes, object.completedRemoteClock());
    } else {
      warp.clock.learnPast(lanes, object.completedRemoteClock());
    }
  } else {
    warp.clock.learnTime(lanes, object.completedClock());
    warp.clock.learnTime(lanes, object.completedRemoteClock());
    forEachLane(lanes, [&](unsigned lane) {
      if (!warp.to_acquire[lane]) warp.to_acquire[lane] = std::make_shared<Clock>();
      warp.to_acquire[lane]->join(object.completedClock());
      if (!is_wide) return;
      if (!warp.to_acquire_afar[lane]) warp.to_acquire_afar[lane] = std::make_shared<Clock>();
      warp.to_acquire_afar[lane]->join(object.completedRemoteClock());
    });
  }
  warp.clock.learn(lanes, View::kTime, object.actor(), object.phase());
  // Going on after a wait takes a branch on its result, which the values of earlier loads do not outlast.
  if (program_.has_async_proxy) warp.clock.settleLoads(lanes, View::kReturned);
  if (effect.is_parity) object.noteWaiter({warp.id, awaited, warp.clock.epoch(), event, lanes});
}

// A wait by parity that does not hold now would have held one phase earlier. Where nothing orders that phase before it, it
// may as well have come then, and gone on without the data.
void Executor::checkUnmetWait(const Step& step, const MbarrierObject& object, const Named& named, LaneMask lanes) {
  LaneMask unsure = 0;
  forEachLane(lanes, [&](unsigned lane) { unsure |= isPhaseOver(step.warp, lane, object, object.phase()) ? 0 : laneBit(lane); });
  if (object.phase() <= object.firstPhase() || unsure == 0) return;
  const EventId event = log(step, EventKind::kMbarrierWait, unsure, object.phase() - object.firstPhase());
  outcome_.log.setBarrier(event, reported(named));
  const std::size_t before = outcome_.misuses.size();
  checkPhaseKnown(step, object, named, unsure, object.phase(), event, Misuse::Kind::kEarlyWait);
  for (std::size_t i = before; i < outcome_.misuses.size(); ++i) outcome_.misuses[i].is_unmet = true;
}

void Executor::waitMbarrier(const Step& step, const ptx::Mbarrier& effect, const Named& named, LaneMask lanes) {
  MbarrierObject* object = mbarrierAt(step, named, lanes);
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
      failed_polls_.emplace(step.warp.id, step.index, named.address, object->phase()).second) {
    return assign(step.warp, arg(step.op, 0), Lanes{}, lanes);
  }
  if (complete != 0) {
    observePhase(step, effect, *object, named, complete);
    return assign(step.warp, arg(step.op, 0), result, lanes);
  }
  // Lanes that ask for different barriers go on apart, each when its own phase is over.
  Fragment& fragment = step.warp.fragments[isolate({step.warp, step.fragment, step.op, step.index, lanes})];
  if (fragment.may_fail_poll) {
    fragment.may_fail_poll = false;
    if (effect.is_parity && object != nullptr) checkUnmetWait(step, *object, named, lanes);
    return assign(step.warp, arg(step.op, 0), result, lanes);
  }
  fragment.state = Fragment::State::kPolling;
  fragment.object = named.address;
  fragment.pc = step.index;
}

}  // namespace handoff::machine
