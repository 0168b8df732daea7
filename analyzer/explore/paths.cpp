// SPDX-License-Identifier: Apache-2.0
// Generational search over the decisions of runs: the runs, and their loops.
#include "analyzer/explore/paths.h"

#include <sys/resource.h>

#include <algorithm>
#include <bit>

#include "analyzer/explore/pointer_use.h"

namespace handoff::explore {

using machine::Decision;
using machine::PathLog;
using symbolic::Solver;
using symbolic::TermId;
using Answer = symbolic::Solver::Answer;

namespace {

/// Sizes and indices are taken to stay below these (docs/soundness.md, assumption on sizes).
constexpr std::uint64_t kMaxSize = (1ull << 30) - 1, kMaxWideSize = (1ull << 40) - 1;
constexpr std::uint64_t kMaxBlocks = (1ull << 20) - 1, kMaxBlocksYZ = 65535;
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
  for (const std::uint64_t parameter : nullablePointers(program_, scenario_)) {
    const TermId is_null = terms_.symbol("null " + std::to_string(parameter), 1, 0, 1);
    base_.push_back(0);
    inputs_.pointers.push_back({static_cast<std::uint32_t>(parameter), is_null});
  }
}

// Runs find words in memory that are inputs, too.
void Paths::addWords() {
  for (const machine::SymbolicInputs::Word& word : inputs_.words) {
    const std::size_t index = terms_[word.symbol].value;
    if (index < base_.size()) continue;
    base_.resize(index + 1, 0);
    base_[index] = word.assumed;
  }
}

std::vector<TermId> Paths::inputSymbols() const {
  std::vector<TermId> symbols;
  for (const auto& [symbol, index] : integer_symbols_) symbols.push_back(symbol);
  for (const TermId symbol : block_symbols_) {
    if (symbol != symbolic::kConcrete) symbols.push_back(symbol);
  }
  for (const machine::SymbolicInputs::Pointer& pointer : inputs_.pointers) symbols.push_back(pointer.is_null);
  for (const machine::SymbolicInputs::Word& word : inputs_.words) symbols.push_back(word.symbol);
  return symbols;
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
  for (const auto& [offset, is_null] : inputs_.pointers) {
    if (inputs[terms_[is_null].value] != 0) setNull(scenario, offset);
  }
  return scenario;
}

// The assumed sizes, and the next and the last block with them: what a place in global memory brings about (alignment,
// hazards of a source) no decision shows.
void Paths::addRoots() {
  queue_.push_back({base_});
  symbolic::Model next = base_, last = base_;
  for (unsigned d = 0; d < 3; ++d) {
    if (block_symbols_[d] == symbolic::kConcrete) continue;
    const std::size_t index = terms_[block_symbols_[d]].value;
    const std::uint64_t clusters = scenario_.launch.grid[d] / std::max(1u, scenario_.launch.cluster[d]);
    next[index] = std::min<std::uint64_t>(1, terms_.symbols()[index].high);
    last[index] = std::min<std::uint64_t>(std::max<std::uint64_t>(clusters, 1) - 1, terms_.symbols()[index].high);
  }
  if (!program_.addresses_depend_on_block) return;
  if (next != base_) queue_.push_back({next, true});
  if (last != base_ && last != next && program_.depends_on_block) queue_.push_back({last, true});
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
    PathLog log(terms_, inputs_, node.inputs);
    log.keeps_words = !node.is_final;
    runNode(node, log);
    addWords();
    checkMade(node, log);
    if (node.is_final) continue;
    for (const PathLog::Returned& returned : log.returned) {
      for (const auto& loop : loops_) {
        if (&loop->closure != returned.closure) continue;
        if (const auto obstacle = closer_.proveWayIn(*loop, log)) addLimit("the loop was not closed: " + obstacle->reason, obstacle->instr);
      }
    }
    if (log.returned.empty() && hasNew(node, log) && !closeLoops(node, log)) open_loop_ = openLoopReason(log);
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

std::unique_ptr<PathLog> Paths::runWith(const symbolic::Model& inputs) {
  auto log = std::make_unique<PathLog>(terms_, inputs_, inputs);
  log->keeps_words = true;
  probe_(scenarioFor(inputs), *log);
  addWords();
  return log;
}

std::unique_ptr<PathLog> Paths::probe(const symbolic::Model& inputs, const machine::Closure& closure, std::size_t from) {
  auto log = std::make_unique<PathLog>(terms_, inputs_, inputs);
  log->closures = {&closure};
  log->states_from = from;
  probe_(scenarioFor(inputs), *log);
  addWords();
  return log;
}

// Tries the periods of the run, and leaves in `log` the run with the closure that holds.
bool Paths::closeLoops(const Node& node, PathLog& log) {
  if (log.boundaries.size() < kMinBoundaries) return true;
  Closing closing = tryPeriods(node.inputs, log, 0);
  for (unsigned i = 0; !closing.is_closed && closing.longer && i < kMaxLonger; ++i) {
    const symbolic::Model inputs = *closing.longer;
    closing = tryPeriods(inputs, *runWith(inputs), closing.from);
    closing.log.reset();
  }
  if (!closing.is_closed) return false;
  const auto again = closing.log ? std::move(closing.log) : probe(node.inputs, loops_.back()->closure, 0);
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
    auto again = probe(inputs, loop->closure, period.first);
    const auto needed = closer_.neededTurns(*loop, *again);
    if (needed && *needed != 0 && *needed < LoopCloser::kMaxTurns) {
      loop = closer_.candidate(log, period, *needed);
      again = probe(inputs, loop->closure, period.first);
    }
    const auto obstacle = closer_.prove(*loop, *again);
    if (!obstacle) {
      loops_.push_back(std::move(loop));
      closing.is_closed = true;
      closing.log = std::move(again);
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

}  // namespace handoff::explore
