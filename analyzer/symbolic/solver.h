// SPDX-License-Identifier: Apache-2.0
// Questions about terms, answered by Z3 (theory of bit-vectors).
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "analyzer/support/thread_clock.h"
#include "analyzer/symbolic/intervals.h"
#include "analyzer/symbolic/term.h"
#include "analyzer/symbolic/valuation.h"

namespace handoff::symbolic {

/// What is assumed, as a stack; terms must be predicates of one lane (Terms::ofLane).
///
/// Most questions are like one before: the inputs found last time, or those with one value changed, often satisfy the
/// new assumptions as well, which an evaluation shows. What these do not satisfy is taken together with all that shares
/// symbols with it; what is said of one symbol alone leaves intervals of it (SymbolSets), and only the rest is asked of
/// Z3.
class Solver {
 public:
  enum class Answer : std::uint8_t { kNo, kYes, kUnknown };
  struct Assumption {
    TermId predicate = 0;
    bool holds = true;
    friend auto operator<=>(const Assumption&, const Assumption&) = default;
  };
  using Assumptions = std::vector<Assumption>;

  /// `milliseconds`: for each question; one that takes longer is answered kUnknown.
  Solver(Terms& terms, unsigned milliseconds);
  ~Solver();
  Solver(const Solver&) = delete;
  Solver& operator=(const Solver&) = delete;

  /// From then on, everything is answered kUnknown.
  void setDeadline(ThreadClock::time_point deadline) { deadline_ = deadline; }
  /// Some answer was kUnknown for lack of time: another time it may be known.
  bool wasCutShort() const { return was_cut_short_; }
  void push();
  void pop();
  void assume(TermId predicate, bool holds = true);
  /// Are there values of the symbols, within their bounds, for which all assumptions hold?
  Answer isFeasible();
  /// After kYes: such values; those of symbols that no assumption names are their lower bounds.
  Model model() const;
  /// Does the predicate follow from the assumptions? kUnknown is not "yes".
  Answer follows(TermId predicate, bool holds = true);

  /// The same in few words: what is said of one symbol alone becomes bounds of it.
  Assumptions shortened(Assumptions assumptions);

  /// Assumptions made during its life end with it.
  class Scope {
   public:
    explicit Scope(Solver& solver) : solver_(solver) { solver_.push(); }
    ~Scope() { solver_.pop(); }
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    Solver& solver_;
  };

 private:
  struct Z3;
  using Ranges = std::map<TermId, Intervals>;  ///< by symbol

  bool isSatisfied(Valuation& values, const Assumption& assumption) const { return (values(assumption.predicate) != 0) == assumption.holds; }
  Assumptions unsatisfied(Valuation& values, std::size_t most) const;
  bool tryKnownInputs(Assumptions& open, Model& nearest);
  bool tryVariants(const Assumptions& open, const Model& nearest);
  Assumptions slice(const Assumptions& open) const;
  std::optional<Ranges> takeRanges(Assumptions& assumptions);
  void addRanges(const Ranges& ranges, Assumptions& assumptions);
  Answer ask(Assumptions assumptions, Model& model);
  void keep(Model model);

  Terms& terms_;
  std::unique_ptr<Z3> z3_;
  SymbolSets sets_;
  Assumptions assumptions_;
  std::vector<std::size_t> levels_;                 ///< how many assumptions there were
  std::deque<Valuation> inputs_;                    ///< that satisfied some question, the last one first
  std::set<Assumptions> refuted_;                   ///< by Z3
  std::optional<Model> last_;
  ThreadClock::time_point deadline_ = ThreadClock::time_point::max();
  bool was_cut_short_ = false;
};

}  // namespace handoff::symbolic
