// SPDX-License-Identifier: Apache-2.0
// The scheduler: runs each warp until all of its fragments wait, then the next; detects hangs.
//
// The schedule is canonical, not fair: the checks that the transfer functions make are about order, not about what
// happened to come first. Two kinds of progress need help once every fragment waits. A poll (mbarrier.test_wait) may
// return false at any time, so one failing poll a fragment is allowed before the next progress; and lanes that wait
// for their warp to reconverge may go on alone, since PTX promises no reconvergence.
#include "analyzer/machine/executor.h"

#include <variant>

#include "analyzer/machine/address.h"
#include "analyzer/machine/machine.h"

namespace handoff::machine {

namespace {

/// Warp instructions that one warp may run before the others get a turn: long enough to be cheap, short enough that a
/// spin on a flag does not eat the budget.
constexpr std::uint64_t kQuantum = 2'000;
constexpr std::uint64_t kStepsPerTimeCheck = 16'384;

}  // namespace

Outcome run(const Program& program, const Launch& launch, const RunOptions& options) {
  // Guesses make the usual run cheap, and are corrected by running again: how fine shared memory is accessed (generic
  // addresses do not tell before they are met), that no buffer is both written and copied from, and that the launch
  // describes every tensor map.
  Executor::Setup setup{.tracked = {}, .granule = program.shared_granule, .boxes = {}};
  while (true) {
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
      races_(run_, order_, setup_.tracked) {
  deadline_ = std::chrono::steady_clock::now() +
              std::chrono::duration_cast<std::chrono::steady_clock::duration>(
                  std::chrono::duration<double>(options.max_seconds));
  silent_regions_.resize(program.ops.size());
  silent_known_.resize(program.ops.size(), 0);
}

void Executor::initWarps() {
  const std::uint32_t threads = launch_.threads();
  const std::uint32_t warps = launch_.warps();
  const std::uint64_t end = program_.dynamic_shared_offset + launch_.dynamic_shared_bytes;
  const std::uint64_t shared_bytes = std::max(end, kSharedBase + program_.static_shared_bytes) - kSharedBase;
  run_.cluster.ctas.resize(launch_.clusterSize());
  run_.cluster.warps.reserve(std::size_t{warps} * launch_.clusterSize());
  for (std::uint32_t rank = 0; rank < launch_.clusterSize(); ++rank) {
    Cta& cta = run_.cluster.ctas[rank];
    cta.rank = rank;
    const auto [x, y, z] = launch_.cluster;
    cta.index = {launch_.block_index[0] + rank % x, launch_.block_index[1] + rank / x % y,
                 launch_.block_index[2] + rank / x / y % z};
    cta.first_warp = run_.cluster.warps.size();
    cta.warp_count = warps;
    cta.shadow = std::make_unique<Shadow>(shared_bytes, setup_.granule);
    if (program_.has_tensor_memory) cta.tensor_shadow = std::make_unique<Shadow>(kTensorCells, 1);
    if (program_.needs_shared_contents) cta.shared.resize(shared_bytes);
    for (std::uint32_t w = 0; w < warps; ++w) {
      const std::uint32_t rest = threads - w * kWarpSize;
      const LaneMask live = rest >= kWarpSize ? kAllLanes : laneBit(rest) - 1;
      const auto id = static_cast<std::uint16_t>(run_.cluster.warps.size());
      Warp& warp = run_.cluster.warps.emplace_back(id, rank, static_cast<std::uint16_t>(w), live);
      warp.registers.resize(program_.register_count);
      for (Lanes& lanes : warp.registers) lanes.unknown = kAllLanes;  // PTX registers start undefined
      warp.passes.resize(program_.ops.size(), 0);
      warp.local.resize(program_.local_bytes == 0 ? 0 : kWarpSize);
      for (Bytes& bytes : warp.local) bytes.resize(program_.local_bytes);
      warp.fragments.push_back({.pc = 0, .lanes = live});
      setSpecials(warp);
      cta.live.push_back(live);
    }
  }
  next_actor_ = firstBarrierActor();
}

void Executor::setSpecials(Warp& warp) {
  using ptx::Special;
  const auto& launch = launch_;
  const Dim3& index = run_.cluster.ctaOf(warp).index;
  for (const auto& [special, slot] : program_.specials) {
    Lanes& lanes = warp.registers[slot];
    lanes.unknown = 0;
    for (unsigned lane = 0; lane < kWarpSize; ++lane) {
      const std::uint32_t thread = warp.rank * kWarpSize + lane;
      std::uint64_t word = 0;
      switch (special) {
        case Special::kTidX: word = thread % launch.block[0]; break;
        case Special::kTidY: word = thread / launch.block[0] % launch.block[1]; break;
        case Special::kTidZ: word = thread / launch.block[0] / launch.block[1]; break;
        case Special::kNtidX: word = launch.block[0]; break;
        case Special::kNtidY: word = launch.block[1]; break;
        case Special::kNtidZ: word = launch.block[2]; break;
        case Special::kCtaidX: word = index[0]; break;
        case Special::kCtaidY: word = index[1]; break;
        case Special::kCtaidZ: word = index[2]; break;
        case Special::kNctaidX: word = launch.grid[0]; break;
        case Special::kNctaidY: word = launch.grid[1]; break;
        case Special::kNctaidZ: word = launch.grid[2]; break;
        case Special::kLaneid: word = lane; break;
        case Special::kWarpid: word = warp.rank; break;
        case Special::kNwarpid: word = launch.warps(); break;
        case Special::kLanemaskEq: word = laneBit(lane); break;
        case Special::kLanemaskLt: word = laneBit(lane) - 1; break;
        case Special::kLanemaskLe: word = (laneBit(lane) - 1) | laneBit(lane); break;
        case Special::kLanemaskGe: word = kAllLanes & ~(laneBit(lane) - 1); break;
        case Special::kLanemaskGt: word = kAllLanes & ~((laneBit(lane) - 1) | laneBit(lane)); break;
        case Special::kDynamicSmemSize: word = launch.dynamic_shared_bytes; break;
        case Special::kClusterNctaidX: word = launch.cluster[0]; break;
        case Special::kClusterNctaidY: word = launch.cluster[1]; break;
        case Special::kClusterNctaidZ: word = launch.cluster[2]; break;
        case Special::kClusterNctarank: word = launch.clusterSize(); break;
        case Special::kClusterCtaidX: word = index[0] % launch.cluster[0]; break;
        case Special::kClusterCtaidY: word = index[1] % launch.cluster[1]; break;
        case Special::kClusterCtaidZ: word = index[2] % launch.cluster[2]; break;
        case Special::kClusterCtarank: word = warp.cta; break;
        case Special::kIsExplicitCluster: word = launch.clusterSize() > 1; break;
        case Special::kClusteridX: word = index[0] / launch.cluster[0]; break;
        case Special::kClusteridY: word = index[1] / launch.cluster[1]; break;
        case Special::kClusteridZ: word = index[2] / launch.cluster[2]; break;
        case Special::kNclusteridX: word = launch.grid[0] / launch.cluster[0]; break;
        case Special::kNclusteridY: word = launch.grid[1] / launch.cluster[1]; break;
        case Special::kNclusteridZ: word = launch.grid[2] / launch.cluster[2]; break;
        case Special::kTotalSmemSize: case Special::kAggrSmemSize: case Special::kReservedSmem:
        case Special::kSmid: case Special::kNsmid: case Special::kGridid: case Special::kClock:
        case Special::kClock64: case Special::kGlobaltimer: case Special::kOther: lanes.unknown = kAllLanes; break;
      }
      lanes.word[lane] = word;
    }
  }
}

Outcome Executor::run() {
  initWarps();
  while (!is_stopped_) {
    bool any = false;
    for (Warp& warp : run_.cluster.warps) {
      any |= runWarp(warp);
      if (is_stopped_) break;
    }
    if (is_stopped_ || any) continue;
    bool is_done = true;
    for (const Warp& warp : run_.cluster.warps) is_done &= warp.fragments.empty();
    if (is_done) {
      if (watch_ != nullptr) watch_->is_complete = true;
      reportLeaks();
      reportLifetimes();
      reportTensorLeaks();
      break;
    }
    if (letPollsFail() || breakJoins()) continue;
    reportStuck();
    break;
  }
  reportByteMismatches();
  races_.finish();
  return std::move(outcome_);
}

bool Executor::runWarp(Warp& warp) {
  std::uint64_t quantum = kQuantum;
  const std::uint64_t before = outcome_.steps;
  for (std::size_t f = 0; f < warp.fragments.size() && quantum != 0 && !is_stopped_;) {
    if (warp.fragments[f].state != Fragment::State::kReady) {
      ++f;
      continue;
    }
    runFragment(warp, f, quantum);
    resumeDeferred(warp);
  }
  return outcome_.steps != before;
}

void Executor::resumeDeferred(Warp& warp) {
  for (const Fragment& fragment : warp.fragments) {
    if (fragment.state == Fragment::State::kReady) return;
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
    execute(warp, f);
    --quantum;
    if (isOverBudget()) return;
    const bool moved = warp.fragments.size() != count || f >= warp.fragments.size() || warp.fragments[f].lanes != lanes;
    if (moved || warp.fragments[f].state != Fragment::State::kReady) break;
  }
  f = 0;
}

bool Executor::isOverBudget() {
  std::string budget;
  // A run that only weighs tensor maps needs a few turns of every ring.
  if (box_finder_.isGathering() && outcome_.steps > options_.max_steps / 8) {
    is_stopped_ = true;
    return true;
  }
  if (outcome_.steps > options_.max_steps) budget = std::to_string(options_.max_steps) + " warp instructions";
  if (outcome_.log.end() > options_.max_events) budget = std::to_string(options_.max_events) + " protocol events";
  if (outcome_.steps % kStepsPerTimeCheck == 0 && std::chrono::steady_clock::now() > deadline_) {
    budget = std::to_string(static_cast<unsigned>(options_.max_seconds)) + " seconds";
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
  if (unknown == 0 || std::holds_alternative<ptx::Branch>(op.decoded->effect)) return holds & active;
  // A guarded instruction that only computes leaves an unknown result; one that acts is decided like a branch.
  const Step step{warp, f, op, index, unknown};
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
  const LaneMask lanes = guardedLanes(warp, f, op, index);
  const bool is_branch = std::holds_alternative<ptx::Branch>(op.decoded->effect);
  warp.fragments[f].pc = index + 1;
  warp.instruction_epoch = warp.clock.epoch();
  if (lanes == 0 && !is_branch) return;
  if (op.is_collective && lanes != warp.live && gather({warp, f, op, index, lanes})) return;
  if (watch_ != nullptr) watchStep(warp, op, lanes);
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
    for (const Fragment& fragment : warp.fragments) outcome_.stuck.push_back(stuckAt(warp, fragment));
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
