// SPDX-License-Identifier: Apache-2.0
// Loops whose further turns need no run (docs/soundness.md, "Closing loops").
//
// A run that meets a state three times at equal distances suggests that it would go on doing so. The proof has three
// parts, all asked of terms in which the registers that move on hold c + step * t, for any number t of periods:
//   the state returns   one period later the registers hold c + step * (t + 1)
//   it decides alike    all decisions of the period, and of every way out of it, are those of a run with t = 0 and
//                       with inputs from which t periods have been taken away
//   those inputs exist  the shorter inputs are in bounds and take the same way to the loop
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/machine/outcome.h"
#include "analyzer/machine/path.h"
#include "analyzer/symbolic/solver.h"

namespace handoff::explore {

/// A condition of one lane.
using Condition = symbolic::Solver::Assumption;

/// The conditions that a decision stands for.
std::vector<Condition> conditionsOf(symbolic::Terms& terms, const machine::Decision& decision);

struct ClosedLoop {
  machine::Closure closure;
  std::vector<Condition> continues;        ///< decided in the period that was seen: for t = 0
  symbolic::TermId input = 0;              ///< the one that decides on the loop's end, if any
  std::uint64_t distance = 0;              ///< by how much it is larger for one period more
  std::uint64_t least = 0;                 ///< its least value with which the loop is reached
  symbolic::TermId rest = 0;               ///< what the periods that have passed left of it: a symbol, as is their number
  symbolic::TermId count = 0;
  std::uint64_t periods_before = 0;        ///< after a proof that failed: how many later the loop can end at all
  symbolic::TermId is_longer = 0;          ///< and inputs with which it turns that often, and some more
};

/// Why a loop stays open, and where.
using Obstacle = machine::RunLimit;

class LoopCloser {
 public:
  LoopCloser(symbolic::Terms& terms, symbolic::Solver& solver) : terms_(terms), solver_(solver) {}

  static constexpr std::uint64_t kMaxTurns = 1ull << 28;

  /// A closure to be tried for a period of the run; at most `turns` periods may have passed before a state.
  std::unique_ptr<ClosedLoop> candidate(const machine::PathLog& log, const machine::Period& period, std::uint64_t turns);
  /// How many periods the inputs can ask for, from the run with a first candidate; 0: no input decides on the loop's
  /// end; nothing: it is not known how the loop's length goes with its inputs. The fewer turns there may be, the more
  /// is known of counters.
  std::optional<std::uint64_t> neededTurns(ClosedLoop& loop, const machine::PathLog& log);
  /// `log` is of the same run with the candidate applied. Nothing: the loop is closed as far as this run goes.
  std::optional<Obstacle> prove(ClosedLoop& loop, const machine::PathLog& log);
  /// Assumes what was decided on the way to the loop.
  void assumeWayIn(const ClosedLoop& loop, const machine::PathLog& log);
  /// `log` is of a run that came to a loop that is closed already: its inputs are no shorter than the proof took for
  /// granted, and the loop goes on alike.
  std::optional<Obstacle> proveWayIn(const ClosedLoop& loop, const machine::PathLog& log);
  /// `log` is of a run that left the loop within its first period, or met one of its states only.
  std::optional<Obstacle> proveWayOut(const ClosedLoop& loop, const machine::PathLog& log);

 private:
  struct Exit { Condition condition; std::uint32_t instr = 0; };
  /// The decisions of the period: those that only the turn decides on, and those that inputs decide on, too.
  struct Decisions { std::vector<Condition> way_in; std::vector<Exit> inner, exits, not_made; };
  void addNotMade(const ClosedLoop& loop, const machine::Decision& decision, std::vector<Exit>& not_made);
  std::optional<Decisions> decisionsOf(const ClosedLoop& loop, const machine::PathLog& log);
  bool findShorter(ClosedLoop& loop, const std::vector<Exit>& exits, const std::vector<Condition>& way_in);
  bool holdsWith(const ClosedLoop& loop, const std::vector<Exit>& exits, const std::vector<Condition>& way_in);
  std::uint64_t leastValue(symbolic::TermId input, const std::vector<Condition>& way_in);
  void setInput(ClosedLoop& loop, symbolic::TermId input, std::uint64_t distance);
  symbolic::TermId atLeast(symbolic::TermId term, std::uint64_t word);
  void assumeLongEnough(const ClosedLoop& loop);
  std::vector<std::uint64_t> distances(const ClosedLoop& loop, symbolic::TermId exit) const;
  bool agreesAtSamples(const ClosedLoop& loop, symbolic::TermId exit, symbolic::TermId symbol, std::uint64_t distance) const;
  bool coversAllTurns(const ClosedLoop& loop) const;
  void assumeTurnBefore(const ClosedLoop& loop);
  symbolic::TermId seen(const ClosedLoop& loop, symbolic::TermId term);
  symbolic::TermId atFirst(const ClosedLoop& loop, symbolic::TermId term);
  bool isAsAtFirst(const ClosedLoop& loop, symbolic::TermId condition);

  symbolic::Terms& terms_;
  symbolic::Solver& solver_;   ///< without assumptions between the calls
  unsigned count_ = 0;
};

}  // namespace handoff::explore
