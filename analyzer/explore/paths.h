// SPDX-License-Identifier: Apache-2.0
// All paths that the inputs of a kernel allow, one concrete run each: the conditions that a run decided are turned
// round, one after the other, and Z3 finds inputs that decide so.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "analyzer/explore/closure.h"
#include "analyzer/explore/scenario.h"
#include "analyzer/support/cancel.h"
#include "analyzer/support/thread_clock.h"

namespace handoff::explore {

struct PathBudget {
  unsigned max_paths = 256;
  unsigned max_memory_mb = 2048;
  ThreadClock::time_point deadline;
  unsigned solver_milliseconds = 1000;     ///< for each question
  const CancelToken* cancel = nullptr;
};

class Paths {
 public:
  /// Runs the kernel once with these inputs; what it decides goes into the log.
  using Run = std::function<void(const Scenario& scenario, machine::PathLog& log)>;

  /// `scenario.integers` that are free, and the block index, take all values of their domains. `run` is called once for
  /// each path, `probe` for more of what a path has decided.
  Paths(const machine::Program& program, const Scenario& scenario, const PathBudget& budget, Run run, Run probe);
  void explore();

  unsigned count() const { return count_; }
  /// Whether turns of some loop were not run, but proved to be like others.
  bool hasClosedLoops() const { return !loops_.empty(); }
  /// Time, memory or a cancellation ended it: another run may come further.
  bool isCutShort() const { return is_cut_short_ || solver_.wasCutShort(); }
  const std::vector<machine::RunLimit>& limits() const { return limits_; }

 private:
  /// An access that a run did not make, and where.
  struct Wanted {
    symbolic::TermId condition = 0;
    std::uint32_t instr = 0;
    friend auto operator<=>(const Wanted&, const Wanted&) = default;
  };
  /// A decision, whichever way it goes: kind, condition, lanes, and of an access its instruction.
  using Key = std::tuple<machine::Decision::Kind, symbolic::TermId, machine::LaneMask, std::uint32_t>;
  using Keys = std::set<Key>;
  struct Node {
    symbolic::Model inputs;
    bool is_final = false;                     ///< no decision is turned round
    std::vector<Wanted> wanted{};              ///< accesses that it is there for
    std::optional<machine::Decision> turned{}; ///< what it decides otherwise than the run that it comes from
    bool may_miss_it = false;                  ///< that lies behind an access, which other inputs may leave out
    std::shared_ptr<const Keys> known{};       ///< decided on the way there: not turned round again
    std::shared_ptr<const Keys> inherited{};   ///< decided in the run that it adds accesses to: turned round from there
  };
  /// A decision in a run, and what the run had decided up to it.
  struct Place {
    const Node& node;
    const machine::PathLog& log;
    const Keys& passed;
    std::size_t decisions = 0;
  };

  void addSymbols();
  void addWords();
  /// Of all inputs so far.
  std::vector<symbolic::TermId> inputSymbols() const;
  void addRoots();
  Scenario scenarioFor(const symbolic::Model& inputs) const;
  void runNode(const Node& node, machine::PathLog& log);
  bool closeLoops(const Node& node, machine::PathLog& log);
  /// What came of the periods of a run.
  struct Closing {
    bool is_closed = false;
    std::optional<symbolic::Model> longer;   ///< inputs with which a loop may turn often enough for a proof
    std::size_t from = 0;                    ///< its first state there, in boundaries
    std::unique_ptr<machine::PathLog> log{}; ///< of the run with the closure
  };
  Closing tryPeriods(const symbolic::Model& inputs, const machine::PathLog& log, std::size_t from);
  std::unique_ptr<machine::PathLog> runWith(const symbolic::Model& inputs);
  std::unique_ptr<machine::PathLog> probe(const symbolic::Model& inputs, const machine::Closure& closure, std::size_t from);
  std::optional<symbolic::Model> longerInputs(const ClosedLoop& loop, const machine::PathLog& log);
  void expand(const Node& node, const machine::PathLog& log);
  void turnRound(const machine::Decision& decision, const Place& place);
  void turnOperand(const machine::Decision& decision, std::vector<Condition> values, const Place& place);
  void addAccesses(const Place& place);
  std::vector<Wanted> accessesOf(const machine::PathLog& log, std::size_t end, bool made, const Keys* without = nullptr);
  Key keyOf(const machine::Decision& decision);
  bool isKnown(const Node& node, const machine::Decision& decision);
  bool hasNew(const Node& node, const machine::PathLog& log);
  void checkMet(const Node& node, const machine::PathLog& log);
  void keepAccesses(const Place& place);
  void checkMade(const Node& node, const machine::PathLog& log);
  bool addRunWithAll(const std::vector<Wanted>& wanted, const Place& place);
  std::vector<Wanted> addRunWithSome(const std::vector<Wanted>& wanted, const Place& place);
  bool addAccessNode(const std::vector<Wanted>& wanted, const Place& place);
  symbolic::Solver::Answer feasibleWith(symbolic::TermId predicate);
  symbolic::Model inputsOfModel() const;
  bool addNode(const machine::Decision& decision, const Place& place);
  void prefer(const machine::Decision& decision, const machine::PathLog& log);
  void addLimit(std::string reason, std::uint32_t instr);
  std::string openLoopReason(const machine::PathLog& log) const;
  bool isOutOfBudget();
  symbolic::TermId atFirstTurn(symbolic::TermId term);

  const machine::Program& program_;
  const Scenario& scenario_;
  const PathBudget budget_;
  const Run run_, probe_;
  symbolic::Terms terms_;
  machine::SymbolicInputs inputs_;
  std::vector<std::pair<symbolic::TermId, std::size_t>> integer_symbols_;  ///< symbol, index in Scenario::integers
  std::array<symbolic::TermId, 3> block_symbols_{};
  symbolic::Model base_;
  symbolic::Solver solver_;
  LoopCloser closer_;
  std::vector<std::unique_ptr<ClosedLoop>> loops_;
  std::deque<Node> queue_;
  std::map<std::uint32_t, unsigned> turned_;          ///< by instruction: loop exits and operands that were turned round
  std::set<std::pair<std::string, std::uint32_t>> limited_;
  std::vector<machine::RunLimit> limits_;
  std::set<std::tuple<std::uint64_t, std::size_t, std::size_t>> failed_periods_;  ///< by state, length and place
  std::string open_loop_;                             ///< why the last attempt to close a loop failed
  unsigned count_ = 0, attempts_ = 0;
  bool is_cut_short_ = false;
};

}  // namespace handoff::explore
