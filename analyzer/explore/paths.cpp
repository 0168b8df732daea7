// SPDX-License-Identifier: Apache-2.0
// Generational search over the decisions of runs.
#include "analyzer/explore/paths.h"

#include <sys/resource.h>

#include <algorithm>
#include <bit>

namespace handoff::explore {

using machine::Decision;
using machine::PathLog;
using symbolic::Solver;
using symbolic::TermId;
using Answer = symbolic::Solver::Answer;

namespace {

/// Sizes and indices are taken to stay below these (docs/soundness.md, assumption on sizes).
constexpr std::uint64_t kMaxSize = (1ull << 30) - 1, kMaxWideSize = (1ull << 40) - 1;
constexpr std::uint64_t kMaxBlocks = (1ull << 24) - 1, kMaxBlocksYZ = 65535;
/// Without a period, a loop is turned this often.
constexpr unsigned kMaxTurnsWithoutPeriod = 64;
/// An operand that depends on the inputs is tried with so many values.
constexpr unsigned kMaxOperandValues = 4, kMaxOperandNodes = 32;
constexpr std::size_t kMaxPeriods = 256;
/// Each is a run and a proof; for all paths together.
constexpr unsigned kMaxAttempts = 32;
constexpr std::size_t kMinBoundaries = 4;
/// How often longer inputs are tried for a proof that the ones at hand are too short for.
constexpr unsigned kMaxLonger = 2;

std::uint64_t peakMemoryMb() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<std::uint64_t>(usage.ru_maxrss) / 1024;
}

bool readsBlockIndex(const machine::Program& program, unsigned d) {
  using ptx::Special;
  static constexpr Special kCtaid[] = {Special::kCtaidX, Special::kCtaidY, Special::kCtaidZ};
  static constexpr Special kClusterid[] = {Special::kClusteridX, Special::kClusteridY, Special::kClusteridZ};
  const Special in_grid = kCtaid[d], of_clusters = kClusterid[d];
  return std::any_of(program.specials.begin(), program.specials.end(),
                     [&](const auto& s) { return s.special == in_grid || s.special == of_clusters; });
}

}  // namespace

Paths::Paths(const machine::Program& program, const Scenario& scenario, const PathBudget& budget, Run run, Run probe)
    : program_(program), scenario_(scenario), budget_(budget), run_(std::move(run)), probe_(std::move(probe)),
      solver_(terms_, budget.solver_milliseconds), closer_(terms_, solver_) {
  addSymbols();
  solver_.setDeadline(budget.deadline);
}

void Paths::addSymbols() {
  for (std::size_t i = 0; i < scenario_.integers.size(); ++i) {
    const Integer& integer = scenario_.integers[i];
    if (!integer.is_free) continue;
    const std::uint64_t most = integer.bytes > 4 ? kMaxWideSize : integer.bytes == 4 ? kMaxSize : symbolic::widthMask(8 * integer.bytes);
    const TermId symbol = terms_.symbol(integer.name, 8 * integer.bytes, 0, most);
    integer_symbols_.emplace_back(symbol, i);
    base_.push_back(static_cast<std::uint64_t>(integer.value));
    inputs_.parameters.push_back({integer.offset, integer.bytes, symbol});
  }
  static constexpr const char* kNames[] = {"blockIdx.x", "blockIdx.y", "blockIdx.z"};
  for (unsigned d = 0; d < 3; ++d) {
    const std::uint64_t clusters = scenario_.launch.grid[d] / std::max(1u, scenario_.launch.cluster[d]);
    const std::uint64_t most = scenario_.is_grid_free ? (d == 0 ? kMaxBlocks : kMaxBlocksYZ) : clusters - std::min<std::uint64_t>(clusters, 1);
    if (most == 0 || !readsBlockIndex(program_, d)) continue;
    block_symbols_[d] = terms_.symbol(kNames[d], 32, 0, most);
    base_.push_back(scenario_.launch.block_index[d] / std::max(1u, scenario_.launch.cluster[d]));
    inputs_.cluster_index[d] = block_symbols_[d];
  }
}

Scenario Paths::scenarioFor(const symbolic::Model& inputs) const {
  Scenario scenario = scenario_;
  for (const auto& [symbol, index] : integer_symbols_) {
    setInteger(scenario, index, static_cast<std::int64_t>(inputs[terms_[symbol].value]));
  }
  for (unsigned d = 0; d < 3; ++d) {
    if (block_symbols_[d] == symbolic::kConcrete) continue;
    const auto index = static_cast<std::uint32_t>(inputs[terms_[block_symbols_[d]].value]);
    setBlockIndex(scenario, d, index * std::max(1u, scenario.launch.cluster[d]));
  }
  return scenario;
}

// The assumed sizes, and the next and the last block with them: what a place in global memory brings about (alignment,
// hazards of a source) no decision shows.
void Paths::addRoots() {
  queue_.push_back({base_, 0, false});
  symbolic::Model next = base_, last = base_;
  for (unsigned d = 0; d < 3; ++d) {
    if (block_symbols_[d] == symbolic::kConcrete) continue;
    const std::size_t index = terms_[block_symbols_[d]].value;
    const std::uint64_t clusters = scenario_.launch.grid[d] / std::max(1u, scenario_.launch.cluster[d]);
    next[index] = std::min<std::uint64_t>(1, terms_.symbols()[index].high);
    last[index] = std::min<std::uint64_t>(std::max<std::uint64_t>(clusters, 1) - 1, terms_.symbols()[index].high);
  }
  if (!program_.addresses_depend_on_block) return;
  if (next != base_) queue_.push_back({next, 0, true});
  if (last != base_ && last != next && program_.depends_on_block) queue_.push_back({last, 0, true});
}

TermId Paths::atFirstTurn(TermId term) {
  symbolic::Terms::Substitution first;
  for (const auto& loop : loops_) first[loop->closure.turns] = terms_.constant(0, 32);
  return first.empty() ? term : terms_.substitute(term, first);
}

void Paths::addLimit(std::string reason, std::uint32_t instr) {
  if (limited_.emplace(reason, instr).second) limits_.push_back({std::move(reason), instr});
}

bool Paths::isOutOfBudget() {
  std::string what;
  if (count_ >= budget_.max_paths) what = std::to_string(budget_.max_paths) + " paths";
  if (ThreadClock::now() > budget_.deadline) what = "time";
  if (peakMemoryMb() > budget_.max_memory_mb) what = std::to_string(budget_.max_memory_mb) + " MiB of memory";
  if (isCancelled(budget_.cancel)) {
    is_cut_short_ = true;
    addLimit("not all paths were run: the run was interrupted", 0);
    return true;
  }
  if (what.empty()) return false;
  is_cut_short_ |= count_ < budget_.max_paths;
  addLimit("not all paths were run: the budget of " + what + " was used up with at least " + std::to_string(queue_.size()) + " left", 0);
  return true;
}

void Paths::runNode(const Node& node, PathLog& log) {
  log.closures.clear();
  for (const auto& loop : loops_) log.closures.push_back(&loop->closure);
  run_(scenarioFor(node.inputs), log);
  ++count_;
}

void Paths::explore() {
  addRoots();
  while (!queue_.empty() && !isOutOfBudget()) {
    const Node node = queue_.front();
    queue_.pop_front();
    PathLog log(terms_, inputs_);
    log.keeps_words = !node.is_final;
    runNode(node, log);
    checkMade(node, log);
    if (node.is_final) continue;
    for (const PathLog::Returned& returned : log.returned) {
      for (const auto& loop : loops_) {
        if (&loop->closure != returned.closure) continue;
        if (const auto obstacle = closer_.proveWayIn(*loop, log)) addLimit("the loop was not closed: " + obstacle->reason, obstacle->instr);
      }
    }
    if (log.returned.empty() && !closeLoops(node, log)) open_loop_ = openLoopReason(log);
    for (const PathLog::Applied& applied : log.applied) {
      const bool has_returned = std::any_of(log.returned.begin(), log.returned.end(), [&](const auto& r) { return r.closure == applied.closure; });
      if (has_returned) continue;
      for (const auto& loop : loops_) {
        if (&loop->closure != applied.closure) continue;
        if (const auto obstacle = closer_.proveWayOut(*loop, log)) addLimit("the loop was not closed: " + obstacle->reason, obstacle->instr);
      }
    }
    expand(node, log);
  }
}

std::unique_ptr<PathLog> Paths::runWith(const symbolic::Model& inputs, const std::vector<const machine::Closure*>& closures) {
  auto log = std::make_unique<PathLog>(terms_, inputs_);
  log->keeps_words = true;
  log->closures = closures;
  probe_(scenarioFor(inputs), *log);
  return log;
}

// Tries the periods of the run, and leaves in `log` the run with the closure that holds.
bool Paths::closeLoops(const Node& node, PathLog& log) {
  if (log.boundaries.size() < kMinBoundaries) return true;
  Closing closing = tryPeriods(node.inputs, log, 0);
  for (unsigned i = 0; !closing.is_closed && closing.longer && i < kMaxLonger; ++i) {
    const symbolic::Model inputs = *closing.longer;
    closing = tryPeriods(inputs, *runWith(inputs, {}), closing.from);
  }
  if (!closing.is_closed) return false;
  const auto again = runWith(node.inputs, {&loops_.back()->closure});
  log.decisions = std::move(again->decisions);
  log.boundaries = std::move(again->boundaries);
  log.applied = std::move(again->applied);
  log.returned = std::move(again->returned);
  return true;
}

Paths::Closing Paths::tryPeriods(const symbolic::Model& inputs, const PathLog& log, std::size_t from) {
  Closing closing;
  std::string why = "no state of it comes back";
  std::vector<std::size_t> failed;
  std::deque<machine::Period> periods;
  for (machine::Period& period : machine::findPeriods(log, from, kMaxPeriods)) periods.push_back(std::move(period));
  while (!periods.empty()) {
    const machine::Period period = std::move(periods.front());
    periods.pop_front();
    // A multiple of a period that failed rarely holds; those that do are powers of two (a counter that wraps), or small.
    const bool is_hopeless = std::any_of(failed.begin(), failed.end(), [&](std::size_t other) {
      return period.length % other == 0 && period.length / other > 3 && !std::has_single_bit(period.length / other);
    });
    const auto key = std::tuple(log.boundaries[period.first].state, period.length, period.first);
    if (is_hopeless || attempts_ >= kMaxAttempts || failed_periods_.contains(key)) continue;
    if (isOutOfBudget()) break;
    ++attempts_;
    // A first candidate tells how many turns there can be; with fewer of them, more can be proved.
    auto loop = closer_.candidate(log, period, LoopCloser::kMaxTurns);
    auto again = runWith(inputs, {&loop->closure});
    const auto needed = closer_.neededTurns(*loop, *again);
    if (needed && *needed != 0 && *needed < LoopCloser::kMaxTurns) {
      loop = closer_.candidate(log, period, *needed);
      again = runWith(inputs, {&loop->closure});
    }
    const auto obstacle = closer_.prove(*loop, *again);
    if (!obstacle) {
      loops_.push_back(std::move(loop));
      closing.is_closed = true;
      return closing;
    }
    why = obstacle->reason;
    // Inputs that get here at all may be too long for the loop to end yet: then the state is one of a later turn.
    machine::Period later = period;
    later.first += std::min<std::size_t>(loop->periods_before, log.boundaries.size()) * period.length;
    if (loop->periods_before != 0 && later.first + 2 * later.length < log.boundaries.size()) {
      periods.push_front(std::move(later));
      continue;
    }
    if (loop->is_longer != 0 && !closing.longer) {
      closing.longer = longerInputs(*loop, *again);
      closing.from = later.first;
    }
    failed.push_back(period.length);
    failed_periods_.insert(key);
  }
  open_loop_ = why;
  return closing;
}

std::optional<symbolic::Model> Paths::longerInputs(const ClosedLoop& loop, const PathLog& log) {
  const Solver::Scope scope(solver_);
  closer_.assumeWayIn(loop, log);
  solver_.assume(loop.is_longer);
  if (solver_.isFeasible() != Answer::kYes) return std::nullopt;
  return inputsOfModel();
}

std::string Paths::openLoopReason(const PathLog& log) const {
  if (!open_loop_.empty()) return open_loop_;
  if (log.boundaries.size() < 2) return "";
  // What differs between the last states that are alike in most parts.
  const machine::Boundary& last = log.boundaries.back();
  std::size_t best = 0;
  std::string reason = "where the threads are does not repeat";
  for (std::size_t b = log.boundaries.size() - 1; b-- > 0 && b + 64 > log.boundaries.size();) {
    const machine::Boundary& other = log.boundaries[b];
    std::size_t same = 0;
    std::string differing;
    for (std::size_t p = 0; p < last.parts.size(); ++p) {
      if (last.parts[p] == other.parts[p]) {
        ++same;
      } else {
        differing = machine::toString(static_cast<machine::StatePart>(p));
      }
    }
    if (same <= best) continue;
    best = same;
    reason = differing.empty() ? "registers differ" : differing + " does not repeat";
  }
  return reason;
}

void Paths::expand(const Node& node, const PathLog& log) {
  std::size_t end = log.decisions.size();
  for (const PathLog::Returned& returned : log.returned) end = std::min(end, returned.decisions);
  const Solver::Scope scope(solver_);
  std::size_t index = 0;  // among the decisions that matter
  for (std::size_t d = 0; d < end; ++d) {
    const Decision& decision = log.decisions[d];
    if (decision.kind == Decision::Kind::kAccess) {
      if (decision.leaves_loop) {
        addLimit("how often a thread turns this loop of reads depends on the inputs: the longest that was run stands for all", decision.instr);
      }
      continue;
    }
    if (isOutOfBudget()) return;
    if (index >= node.bound) turnRound(decision, index, log);
    for (const Condition& condition : conditionsOf(terms_, decision)) {
      const TermId term = atFirstTurn(condition.predicate);
      if (!terms_.isConstant(term)) solver_.assume(term, condition.holds);
    }
    ++index;
  }
  addAccesses(log, end);
}

// The conditions of accesses that a run made, or of those that it did not, in their order.
std::vector<Paths::Wanted> Paths::accessesOf(const PathLog& log, std::size_t end, bool made) {
  std::vector<Wanted> found;
  std::set<TermId> known;
  for (std::size_t d = 0; d < end; ++d) {
    const Decision& access = log.decisions[d];
    if (access.kind != Decision::Kind::kAccess) continue;
    for (const Condition& condition : conditionsOf(terms_, access)) {
      if ((condition.holds == access.wants) != made) continue;
      const TermId term = atFirstTurn(condition.predicate);
      const TermId wanted = access.wants ? term : terms_.bitNot(term);
      if (!terms_.isConstant(wanted) && known.insert(wanted).second) found.push_back({wanted, access.instr});
    }
  }
  return found;
}

// A run with an access covers one without it that is alike in all else. So each path is run with all accesses that can
// be made on it.
void Paths::addAccesses(const PathLog& log, std::size_t end) {
  std::vector<Wanted> missing = accessesOf(log, end, /*made=*/false);
  if (missing.empty() || addRunWithAll(missing)) return;
  while (!missing.empty() && !isOutOfBudget()) missing = addRunWithSome(missing);
}

void Paths::checkMade(const Node& node, const PathLog& log) {
  if (node.wanted.empty()) return;
  const std::vector<Wanted> made = accessesOf(log, log.decisions.size(), /*made=*/true);
  for (const Wanted& wanted : node.wanted) {
    const auto isIt = [&](const Wanted& other) { return other.condition == wanted.condition; };
    if (std::none_of(made.begin(), made.end(), isIt)) addLimit("an access that some sizes make was in no run", wanted.instr);
  }
}

bool Paths::addRunWithAll(const std::vector<Wanted>& wanted) {
  const Solver::Scope together(solver_);
  for (const Wanted& access : wanted) solver_.assume(access.condition);
  if (solver_.isFeasible() != Answer::kYes) return false;
  queue_.push_back({inputsOfModel(), 0, true, wanted});
  return true;
}

// A run that makes as many of these accesses as go together, in their order; returns the others.
std::vector<Paths::Wanted> Paths::addRunWithSome(const std::vector<Wanted>& wanted) {
  const Solver::Scope together(solver_);
  std::vector<Wanted> left, chosen;
  for (const Wanted& access : wanted) {
    const Answer answer = feasibleWith(access.condition);
    if (answer == Answer::kYes) {
      solver_.assume(access.condition);
      chosen.push_back(access);
    } else if (answer == Answer::kUnknown) {
      addLimit("it could not be decided in time whether inputs exist that make this access", access.instr);
    } else {
      left.push_back(access);
    }
  }
  if (chosen.empty()) return {};  // none of them can be made on this path
  if (solver_.isFeasible() == Answer::kYes) {
    queue_.push_back({inputsOfModel(), 0, true, chosen});
  } else {
    addLimit("inputs that make an access exist, but were not found in time", chosen.front().instr);
  }
  return left;
}

Answer Paths::feasibleWith(TermId predicate) {
  const Solver::Scope with(solver_);
  solver_.assume(predicate);
  return solver_.isFeasible();
}

void Paths::turnRound(const Decision& decision, std::size_t index, const PathLog& log) {
  std::vector<Condition> conditions = conditionsOf(terms_, decision);
  for (Condition& condition : conditions) condition.predicate = atFirstTurn(condition.predicate);
  std::erase_if(conditions, [&](const Condition& c) { return terms_.isConstant(c.predicate); });
  if (conditions.empty()) return;
  const auto attempt = [&](auto&& assume) {
    const Solver::Scope other(solver_);
    assume();
    const Answer answer = solver_.isFeasible();
    bool is_new = answer == Answer::kYes;
    if (answer == Answer::kUnknown) {
      addLimit("it could not be decided in time whether inputs exist that decide otherwise", decision.instr);
    }
    if (is_new && decision.leaves_loop && turned_[decision.instr]++ >= kMaxTurnsWithoutPeriod) {
      is_new = false;
      addLimit("the loop has no period within " + std::to_string(kMaxTurnsWithoutPeriod) + " turns" + (open_loop_.empty() ? "" : ": " + open_loop_),
               decision.instr);
    }
    if (is_new) addNode(decision, index, log);
  };
  if (decision.kind == Decision::Kind::kValue) return turnOperand(decision, conditions, index, log);
  if (conditions.size() == 1) {
    attempt([&] { solver_.assume(conditions.front().predicate, !conditions.front().holds); });
    return;
  }
  addLimit("threads may take different sides here: all of them, none, and a mix were run", decision.instr);
  // Lanes may differ: all of them one way, all the other way, and the first and the last apart.
  const auto allHold = [&](bool wanted) { return std::all_of(conditions.begin(), conditions.end(), [&](const Condition& c) { return c.holds == wanted; }); };
  for (const bool wanted : {true, false}) {
    if (allHold(wanted)) continue;
    attempt([&] {
      for (const Condition& c : conditions) solver_.assume(c.predicate, wanted);
    });
  }
  if (!allHold(true) && !allHold(false)) return;
  attempt([&] { solver_.assume(terms_.equal(conditions.front().predicate, conditions.back().predicate), false); });
}

// An operand: any other value in some lane, one after the other.
void Paths::turnOperand(const Decision& decision, std::vector<Condition> values, std::size_t index, const PathLog& log) {
  const Solver::Scope others(solver_);
  for (unsigned tried = 0; tried <= kMaxOperandValues; ++tried) {
    TermId all = terms_.constant(1, 1);
    for (const Condition& c : values) all = terms_.bitAnd(all, c.holds ? c.predicate : terms_.bitNot(c.predicate));
    solver_.assume(all, false);
    const Answer answer = solver_.isFeasible();
    if (answer == Answer::kNo) return;
    if (answer == Answer::kUnknown) return addLimit("it could not be decided in time whether inputs exist that decide otherwise", decision.instr);
    if (tried == kMaxOperandValues || turned_[decision.instr]++ >= kMaxOperandNodes) {
      return addLimit("an operand depends on the inputs; not all of its values were run", decision.instr);
    }
    if (!addNode(decision, index, log)) return;
    // The next one has to differ from this one, too.
    symbolic::Model model = queue_.back().inputs;
    model.resize(terms_.symbols().size(), 0);
    for (Condition& c : values) {
      const symbolic::Term term = terms_[c.predicate];
      if (term.op == symbolic::TermOp::kEqual && terms_.isConstant(term.b)) {
        c = {terms_.equal(term.a, terms_.constant(terms_.evaluate(term.a, 0, model), terms_[term.a].width)), true};
      } else {
        c.holds = terms_.evaluate(c.predicate, 0, model) != 0;
      }
    }
  }
}

// Among the inputs that take the other side: those near the assumed sizes, with as many accesses as can be.
void Paths::prefer(const Decision& decision, const PathLog& log) {
  const std::vector<TermId> asked = terms_.symbolsOf(decision.condition);
  const auto keepIfFeasible = [&](TermId predicate) {
    const bool is_feasible = feasibleWith(predicate) == Answer::kYes;
    if (is_feasible) solver_.assume(predicate);
    return is_feasible;
  };
  for (std::size_t i = 0; i < base_.size(); ++i) {
    const symbolic::Symbol& symbol = terms_.symbols()[i];
    const TermId term = i < integer_symbols_.size() ? integer_symbols_[i].first
                                                    : *std::find_if(block_symbols_.begin(), block_symbols_.end(), [&](TermId s) { return s != 0 && terms_[s].value == i; });
    const TermId base = terms_.constant(base_[i], symbol.width);
    const bool is_asked = std::find(asked.begin(), asked.end(), term) != asked.end();
    if (!is_asked && keepIfFeasible(terms_.equal(term, base))) continue;
    // Near the assumed size, or else small.
    const TermId above = terms_.bitNot(terms_.less(term, terms_.constant(base_[i] / 2, symbol.width), false));
    const TermId below = terms_.less(term, terms_.constant(2 * base_[i] + 8, symbol.width), false);
    if (base_[i] > 16 && keepIfFeasible(terms_.bitAnd(above, below))) continue;
    for (std::uint64_t most = 2 * base_[i] + 8; most < symbol.high; most *= 4) {
      if (keepIfFeasible(terms_.less(term, terms_.constant(most, symbol.width), false))) break;
    }
  }
  constexpr std::size_t kMaxAccessConditions = 64;
  std::size_t tried = 0;
  TermId all = terms_.constant(1, 1);
  for (const Decision& access : log.decisions) {
    if (access.kind != Decision::Kind::kAccess || ++tried > kMaxAccessConditions) continue;
    machine::forEachLane(access.lanes, [&](unsigned lane) {
      const TermId term = atFirstTurn(terms_.ofLane(access.condition, lane));
      all = terms_.bitAnd(all, access.wants ? term : terms_.bitNot(term));
    });
  }
  if (!terms_.isConstant(all)) keepIfFeasible(all);
}

bool Paths::addNode(const Decision& decision, std::size_t index, const PathLog& log) {
  const Solver::Scope preferences(solver_);  // of these inputs alone
  prefer(decision, log);
  if (solver_.isFeasible() != Answer::kYes) {
    addLimit("inputs that decide otherwise exist, but were not found in time", decision.instr);
    return false;
  }
  queue_.push_back({inputsOfModel(), index + 1, false});
  return true;
}

// Without the symbols that count turns. prefer() has named all others.
symbolic::Model Paths::inputsOfModel() const {
  symbolic::Model inputs = solver_.model();
  inputs.resize(base_.size());
  return inputs;
}

}  // namespace handoff::explore
