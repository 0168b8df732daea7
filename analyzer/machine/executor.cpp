// SPDX-License-Identifier: Apache-2.0
// The scheduler: runs each warp until all of its fragments wait, then the next; detects hangs.
//
// The schedule is canonical, not fair: the checks that the transfer functions make are about order, not about what
// happened to come first. Two kinds of progress need help once every fragment waits. A poll (mbarrier.test_wait) may
// return false at any time, so one failing poll a fragment is allowed before the next progress; and lanes that wait
// for their warp to reconverge may go on alone, since PTX promises no reconvergence.
#include "analyzer/machine/executor.h"

#include <algorithm>
#include <cmath>
#include <variant>

#include "analyzer/machine/address.h"
#include "analyzer/machine/machine.h"
#include "analyzer/machine/run_trace.h"

namespace handoff::machine {

namespace {

/// Warp instructions that one warp may run before the others get a turn: long enough to be cheap, short enough that a
/// spin on a flag does not eat the budget.
constexpr std::uint64_t kQuantum = 2'000;
constexpr std::uint64_t kStepsPerTimeCheck = 256;  ///< the clock of a thread is a call of the system

/// One step of these touches as many bytes, for each of its lanes, as thousands of others.
bool isBulk(const Op& op) {
  const ptx::Effect& effect = op.decoded->effect;
  return std::holds_alternative<ptx::BulkCopy>(effect) || std::holds_alternative<ptx::TensorCopy>(effect) ||
         std::holds_alternative<ptx::StoreBulk>(effect);
}

}  // namespace

Outcome run(const Program& program, const Launch& launch, const RunOptions& options) {
  // Guesses make the usual run cheap, and are corrected by running again: how fine shared memory is accessed (generic
  // addresses do not tell before they are met), that no buffer is both written and copied from, and that the launch
  // describes every tensor map.
  Executor::Setup setup{.tracked = {}, .granule = program.shared_granule, .boxes = {}};
  while (true) {
    if (options.path != nullptr) options.path->clear();
    if (options.trace != nullptr) options.trace->clear();
    Executor executor(program, launch, options, setup);
    Outcome outcome = executor.run();
    Executor::Setup needed = executor.neededSetup();
    if (needed == setup) return outcome;
    setup = std::move(needed);
  }
}

Executor::Setup Executor::neededSetup() const {
  Setup needed = setup_;
  needed.granule = std::min(setup_.granule, needed_granule_);
  if (needed.tracked.empty()) needed.tracked = races_.sharedBuffers();
  if (box_finder_.isGathering()) needed.boxes.merge(box_finder_.solve());
  return needed;
}

Executor::Executor(const Program& program, const Launch& launch, const RunOptions& options, Setup setup)
    : Core(program, launch, options), setup_(std::move(setup)), needed_granule_(setup_.granule),
      races_(run_, order_, setup_.tracked), regions_(program), choices_(program, options.unknown_branches),
      reads_inputs_(std::any_of(program.ops.begin(), program.ops.end(), [](const Op& op) { return op.reads_input; })) {
  start_ = ThreadClock::now();
  deadline_ = start_ +
              std::chrono::duration_cast<ThreadClock::duration>(
                  std::chrono::duration<double>(options.max_seconds));
}

Outcome Executor::run() {
  initWarps();
  while (!is_stopped_) {
    bool any = false;
    if (path_ != nullptr) path_->startRound();
    for (Warp& warp : run_.cluster.warps) {
      any |= runWarp(warp);
      if (is_stopped_) break;
    }
    if (path_ != nullptr && !skips_.turn && path_->hasDecided() && !is_stopped_) meetBoundary();
    if (!is_stopped_) considerSkipping();
    if (is_stopped_ || any) continue;
    bool is_done = true;
    for (const Warp& warp : run_.cluster.warps) is_done &= warp.fragments.empty();
    if (is_done) {
      if (watch_ != nullptr) watch_->is_complete = true;
      reportLeaks();
      reportLifetimes();
      reportTensorLeaks();
      reportSplitRegisters();
      break;
    }
    if (letPollsFail() || breakJoins()) continue;
    reportStuck();
    break;
  }
  if (skips_.turn) leaveTurn(/*has_skipped=*/false);
  reportByteMismatches();
  outcome_.tracks_global = !setup_.tracked.empty();
  outcome_.assumed_boxes = setup_.boxes;
  races_.finish();
  return std::move(outcome_);
}

bool Executor::runWarp(Warp& warp) {
  // With turns at every decision on the inputs, warps that take part in one protocol keep step.
  std::uint64_t quantum = options_.path != nullptr ? 8 * kQuantum : kQuantum;
  has_left_turn_ = false;
  const std::uint64_t before = outcome_.steps;
  for (std::size_t f = 0; f < warp.fragments.size() && quantum != 0 && !is_stopped_ && !has_left_turn_;) {
    if (warp.fragments[f].state != Fragment::State::kReady) {
      ++f;
      continue;
    }
    runFragment(warp, f, quantum);
    resumeDeferred(warp);
  }
  return outcome_.steps != before;
}

// Lanes that wait for something may come yet; when nothing else goes on, breakJoins() has it.
void Executor::resumeDeferred(Warp& warp) {
  for (const Fragment& fragment : warp.fragments) {
    if (fragment.state != Fragment::State::kDeferred) return;
  }
  for (Fragment& fragment : warp.fragments) {
    if (fragment.state == Fragment::State::kDeferred) fragment.state = Fragment::State::kReady;
  }
}

// Runs one fragment until it waits, ends or splits; then `f` restarts at 0, since fragments have moved.
void Executor::runFragment(Warp& warp, std::size_t& f, std::uint64_t& quantum) {
  while (quantum != 0 && !is_stopped_) {
    if (arriveAtJoin(warp, f)) break;
    Fragment& fragment = warp.fragments[f];
    if (fragment.pc >= program_.ops.size()) {
      exitLanes(warp, f, fragment.lanes);
      break;
    }
    const std::size_t count = warp.fragments.size();
    const LaneMask lanes = fragment.lanes;
    const bool is_bulk = isBulk(program_.ops[fragment.pc]);
    execute(warp, f);
    --quantum;
    if (isOverBudget(is_bulk) || has_left_turn_) return;
    const bool moved = warp.fragments.size() != count || f >= warp.fragments.size() || warp.fragments[f].lanes != lanes;
    if (moved || warp.fragments[f].state != Fragment::State::kReady) break;
  }
  f = 0;
}

bool Executor::isOverBudget(bool is_slow) {
  std::string budget;
  // A run that only weighs tensor maps needs a few turns of every ring.
  if (box_finder_.isGathering() && outcome_.steps > options_.max_steps / 8) {
    is_stopped_ = true;
    return true;
  }
  if (outcome_.steps > options_.max_steps) budget = std::to_string(options_.max_steps) + " warp instructions";
  if (outcome_.log.end() > options_.max_events) budget = std::to_string(options_.max_events) + " protocol events";
  if ((is_slow || outcome_.steps % kStepsPerTimeCheck == 0) && ThreadClock::now() > deadline_) {
    budget = options_.max_seconds < 1 ? "what was left of its time" : std::to_string(std::lround(options_.max_seconds)) + " seconds";
  }
  if (budget.empty()) return false;
  std::uint32_t at = 0;
  for (const Warp& warp : run_.cluster.warps) {
    for (const Fragment& fragment : warp.fragments) {
      if (fragment.state == Fragment::State::kReady && fragment.pc < program_.ops.size()) {
        at = program_.ops[fragment.pc].instr;
      }
    }
  }
  addLimit("the run was stopped after " + budget, at);
  outcome_.was_stopped = true;
  is_stopped_ = true;
  return true;
}

LaneMask Executor::guardedLanes(Warp& warp, std::size_t f, const Op& op, OpIndex index) {
  const LaneMask active = warp.fragments[f].lanes;
  if (op.guard == kNoSlot) return active;
  const Lanes& guard = value(warp, op.guard);
  LaneMask holds = 0;
  for (unsigned lane = 0; lane < kWarpSize; ++lane) {
    holds |= static_cast<LaneMask>((guard.word[lane] & 1) != op.is_guard_negated) << lane;
  }
  const LaneMask unknown = guard.unknown & active;
  const bool is_branch = std::holds_alternative<ptx::Branch>(op.decoded->effect);
  if (termAt(warp, op.guard) != symbolic::kConcrete && !std::holds_alternative<ptx::Alu>(op.decoded->effect)) {
    const bool is_control = noteGuard({warp, f, op, index, active}, active, holds);
    has_left_turn_ |= is_control && !goesByTurns(termAt(warp, op.guard)) && (op.leaves_loop_on_taken || op.leaves_loop_on_fallthrough);
  }
  if (unknown == 0 || is_branch) return holds & active;
  // A guarded instruction that only computes leaves an unknown result; one that acts is decided like a branch.
  const Step step{warp, f, op, index, unknown};
  if (executeUnderUnknown(step)) return holds & active & ~unknown;
  const bool computes =
      std::holds_alternative<ptx::Alu>(op.decoded->effect) || std::holds_alternative<ptx::Opaque>(op.decoded->effect) ||
      std::holds_alternative<ptx::Collective>(op.decoded->effect);
  if (computes) {
    forgetDestinations(step);
    return holds & active & ~unknown;
  }
  const LaneMask chosen = decideUnknown(step, unknown);
  return (holds & active & ~unknown) | chosen;
}

void Executor::execute(Warp& warp, std::size_t f) {
  ++outcome_.steps;
  const OpIndex index = warp.fragments[f].pc;
  const Op& op = program_.ops[index];
  if (watch_ != nullptr) watchStep({warp, f, op, index, warp.fragments[f].lanes});
  const LaneMask lanes = guardedLanes(warp, f, op, index);
  const bool is_branch = std::holds_alternative<ptx::Branch>(op.decoded->effect);
  warp.fragments[f].pc = index + 1;
  warp.instruction_epoch = warp.clock.epoch();
  const bool is_chosen = path_ != nullptr && op.guard != kNoSlot && termAt(warp, op.guard) != symbolic::kConcrete;
  if (const auto* alu = std::get_if<ptx::Alu>(&op.decoded->effect); alu != nullptr && is_chosen) {
    return computeUnderGuard({warp, f, op, index, lanes}, *alu, warp.fragments[f].lanes & ~value(warp, op.guard).unknown);
  }
  if (lanes == 0 && !is_branch) return;
  if (path_ != nullptr) noteOperands({warp, f, op, index, lanes});
  if (op.is_collective && lanes != warp.live && gather({warp, f, op, index, lanes})) return;
  if (options_.trace != nullptr) options_.trace->steps.push_back({index, outcome_.log.end(), lanes, warp.id});
  std::visit([&](const auto& effect) { (*this)(effect, Step{warp, f, op, index, lanes}); }, op.decoded->effect);
  if (watch_ != nullptr) watchLoad(warp, op, index);
}

bool Executor::arriveAtJoin(Warp& warp, std::size_t f) {
  const Fragment& fragment = warp.fragments[f];
  if (fragment.join < 0 || warp.joins[fragment.join].pc != fragment.pc) return false;
  const int join = fragment.join;
  warp.joins[join].arrived |= fragment.lanes;
  warp.fragments.erase(warp.fragments.begin() + static_cast<std::ptrdiff_t>(f));
  mergeJoin(warp, join);
  return true;
}

void Executor::mergeJoin(Warp& warp, int index) {
  const Join& join = warp.joins[index];
  if (join.arrived != join.expected || join.expected == 0) return;
  if (join.arrived == warp.live) warp.has_broken_join = false;
  warp.fragments.insert(warp.fragments.begin(), {.pc = join.pc, .lanes = join.arrived, .join = join.parent});
  warp.joins[index].expected = warp.joins[index].arrived = 0;
  while (!warp.joins.empty() && warp.joins.back().expected == 0) warp.joins.pop_back();
}

void Executor::exitLanes(Warp& warp, std::size_t f, LaneMask lanes) {
  Fragment& fragment = warp.fragments[f];
  fragment.lanes &= ~lanes;
  warp.live &= ~lanes;
  Cta& cta = run_.cluster.ctaOf(warp);
  cta.live[warp.rank] = warp.live;
  warp.clock.publish(lanes, cta.exit_clock);
  outcome_.exited_threads += static_cast<std::uint32_t>(std::popcount(lanes));
  if (fragment.lanes == 0) warp.fragments.erase(warp.fragments.begin() + static_cast<std::ptrdiff_t>(f));
  for (int j = static_cast<int>(warp.joins.size()) - 1; j >= 0; --j) {
    if (j >= static_cast<int>(warp.joins.size())) continue;
    warp.joins[j].expected &= ~lanes;
    if (warp.joins[j].expected != 0) mergeJoin(warp, j);
  }
  progress();
  completeBarriers(cta);
  completeClusterBarrier();
  releaseWarpBarrier(warp);
}

bool Executor::letPollsFail() {
  bool any = false;
  for (Warp& warp : run_.cluster.warps) {
    for (Fragment& fragment : warp.fragments) {
      if (fragment.state != Fragment::State::kPolling || fragment.polled_at == progress_) continue;
      fragment.polled_at = progress_;
      fragment.may_fail_poll = true;
      fragment.state = Fragment::State::kReady;
      any = true;
    }
  }
  return any;
}

bool Executor::breakJoins() {
  bool any = false;
  for (Warp& warp : run_.cluster.warps) {
    for (std::size_t j = warp.joins.size(); j-- > 0;) {
      Join& join = warp.joins[j];
      if (join.arrived == 0) continue;
      warp.fragments.push_back({.pc = join.pc, .lanes = join.arrived, .join = join.parent});
      join.expected &= ~join.arrived;
      join.arrived = 0;
      warp.has_broken_join = any = true;
    }
  }
  for (Warp& warp : run_.cluster.warps) {
    for (Fragment& fragment : warp.fragments) {
      if (any || fragment.state != Fragment::State::kDeferred) continue;
      fragment.state = Fragment::State::kReady;
      // What keeps the others may be what is not modelled.
      warp.has_broken_join |= outcome_.has_unmodelled;
      any = true;
    }
  }
  if (any) progress();
  return any;
}

Stuck Executor::stuckAt(const Warp& warp, const Fragment& fragment) const {
  Stuck stuck;
  stuck.warp = warp.id;
  stuck.lanes = fragment.lanes;
  stuck.op = fragment.pc;
  switch (fragment.state) {
    case Fragment::State::kAtCtaBarrier: {
      const Cta& cta = run_.cluster.ctaOf(warp);
      const CtaBarrier& barrier = cta.barriers[fragment.barrier];
      stuck.kind = Stuck::Kind::kCtaBarrier;
      stuck.op = fragment.pc - 1;
      stuck.id = fragment.barrier;
      stuck.expected = barrier.expectedThreads();
      stuck.arrived = barrier.arrivedThreads(cta.live);
      for (const auto& arrival : barrier.arrivals()) stuck.arrivals.push_back(arrival.event);
      break;
    }
    case Fragment::State::kAtWarpBarrier:
      stuck.kind = Stuck::Kind::kWarpBarrier;
      stuck.op = fragment.pc - 1;
      stuck.missing_lanes = fragment.barrier & ~fragment.lanes;
      break;
    case Fragment::State::kPolling: {
      stuck.kind = Stuck::Kind::kMbarrier;
      const Cta& cta = run_.cluster.ctaOf(warp);
      stuck.address = reportedAddress(cta, fragment.object);
      if (const auto it = cta.mbarriers.find(fragment.object); it != cta.mbarriers.end()) {
        const MbarrierObject& object = it->second;
        stuck.expected = object.expected();
        stuck.arrived = object.expected() - std::min(object.pending(), object.expected());
        stuck.transactions = object.transactions();
        stuck.init = object.initEvent();
        stuck.arrivals = object.eventsOfPhase();
        stuck.id = object.phase() - object.firstPhase();
        const auto seen = warp.seen_phases.find({fragment.object, lowestLane(fragment.lanes)});
        stuck.seen = seen == warp.seen_phases.end() ? 0 : seen->second - std::min(seen->second, object.firstPhase());
        stuck.is_first_phase = stuck.id == 0 && object.eventsOfPhase().empty();
      }
      break;
    }
    case Fragment::State::kAtClusterBarrier:
      stuck.kind = Stuck::Kind::kClusterBarrier;
      for (const EventId event : run_.cluster.barrier.arrivals()) stuck.arrivals.push_back(event);
      break;
    case Fragment::State::kAtMmaWait: stuck.kind = Stuck::Kind::kMmaWait; break;
    case Fragment::State::kAtRegisterPool: stuck.kind = Stuck::Kind::kRegisterPool; break;
    case Fragment::State::kDeferred:
    case Fragment::State::kReady: stuck.kind = Stuck::Kind::kFlag; break;
  }
  return stuck;
}

void Executor::reportStuck() {
  if (outcome_.has_unmodelled) {
    for (const Warp& warp : run_.cluster.warps) {
      for (const Fragment& fragment : warp.fragments) {
        const OpIndex at = std::min<OpIndex>(fragment.pc, static_cast<OpIndex>(program_.ops.size() - 1));
        addLimit("the run could not go on past this wait, which an unmodelled instruction may end", program_.ops[at].instr);
      }
    }
  }
  for (const Warp& warp : run_.cluster.warps) {
    for (const Fragment& fragment : warp.fragments) {
      outcome_.stuck.push_back(stuckAt(warp, fragment));
      // That the wait never ends says more than that it may have ended too soon.
      std::erase_if(outcome_.misuses, [&](const Misuse& misuse) { return misuse.is_unmet && outcome_.log[misuse.event].op == fragment.pc; });
    }
  }
}

// Operations that the block leaves behind: no wait of their thread and no barrier phase covers them. The kinds of copies
// are counted apart; that of bulk stores is about their sources only, since what they write outlives the block.
void Executor::reportLeaks() {
  const auto report = [&](Warp& warp, const CopyGroups& groups, EventKind copy, Misuse::Kind kind) {
    LaneMask leaking = 0;
    for (unsigned lane = 0; lane < kWarpSize; ++lane) leaking |= groups.hasUnretired(lane) ? laneBit(lane) : 0;
    if (leaking == 0) return;
    for (EventId id = outcome_.log.end(); --id != 0;) {
      const Event& event = outcome_.log[id];
      if (event.warp != warp.id || event.kind != copy || !(event.lanes & leaking)) continue;
      const AsyncOp* op = outcome_.log.findOp(id, lowestLane(event.lanes & leaking));
      if (copy == EventKind::kBulk && (op == nullptr || op->group == AsyncOp::kNoGroup)) continue;
      const Step step{warp, 0, program_.ops[event.op], event.op, event.lanes};
      const unsigned lane = lowestLane(event.lanes & leaking);
      const bool is_open = op != nullptr && !groups.isCommitted(lane, op->group);
      return addMisuse(step, {.kind = kind, .event = id, .lanes = event.lanes & leaking,
                              .value = is_open && groups.lastWaitAfter(lane, id) != nullptr});
    }
  };
  for (Warp& warp : run_.cluster.warps) {
    report(warp, warp.copies, EventKind::kCopy, Misuse::Kind::kLeakedAtExit);
    report(warp, warp.bulk_reads, EventKind::kBulk, Misuse::Kind::kUndrainedAtExit);
  }
}

}  // namespace handoff::machine
