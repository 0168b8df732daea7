// SPDX-License-Identifier: Apache-2.0
// Questions about terms, answered by Z3 (theory of bit-vectors).
#pragma once

#include <chrono>
#include <deque>
#include <map>
#include <optional>
#include <vector>

#include "analyzer/support/thread_clock.h"
#include "analyzer/symbolic/assumption.h"
#include "analyzer/symbolic/intervals.h"
#include "analyzer/symbolic/term.h"
#include "analyzer/symbolic/refutations.h"
#include "analyzer/symbolic/valuation.h"
#include "analyzer/symbolic/z3_check.h"

namespace handoff::symbolic {

/// What is assumed, as a stack.
///
/// Most questions are like one before: the inputs found last time, or those with one value changed, often satisfy the
/// new assumptions as well, which an evaluation shows. What these do not satisfy is taken together with all that shares
/// symbols with it; what is said of one symbol alone leaves intervals of it (SymbolSets), and only the rest is asked of
/// Z3. That rest has hundreds of parts, one for each lane and access, and a few of them decide: Z3 is given those that
/// its last answer broke, until it breaks none, and of a condition that some lane may meet one lane after the other.
class Solver {
 public:
  using Answer = symbolic::Answer;
  using Assumption = symbolic::Assumption;
  using Assumptions = symbolic::Assumptions;

  /// `milliseconds`: for each question; one that takes longer is answered kUnknown.
  Solver(Terms& terms, unsigned milliseconds);
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
  struct Search;
  /// The pieces of an assumption that speak of several symbols, and what the others leave of single ones.
  struct Parted {
    Assumptions pieces;
    Ranges ranges;
    bool is_conflict = false;
  };

  bool isSatisfied(Valuation& values, const Assumption& assumption) const { return (values(assumption.predicate) != 0) == assumption.holds; }
  Assumptions unsatisfied(Valuation& values, std::size_t most) const;
  bool tryKnownInputs(Assumptions& open, Model& nearest);
  bool tryVariants(const Assumptions& open, const Model& nearest);
  Assumptions slice(const Assumptions& open) const;
  std::optional<Ranges> takeRanges(Assumptions& assumptions);
  void addRanges(const Ranges& ranges, Assumptions& assumptions);
  void clamp(Model& model, const Ranges& ranges) const;
  static bool isConflict(const Ranges& ranges);
  const Assumptions& piecesOf(const Assumption& assumption);
  const Parted& partedOf(const Assumption& assumption);
  /// For a question.
  std::chrono::milliseconds timeLeft() const;
  void restrict(Ranges& ranges, const Ranges& further) const;
  Assumptions alternativesOf(const Assumption& assumption);
  Answer ask(const Assumptions& assumptions, Model& model);
  Answer search(Search question, Model& model, unsigned splits);
  Answer split(const Assumption& wide, const Search& question, Model& model, unsigned splits);
  Answer splitByAlternative(const Assumption& wide, const Search& question, Model& model, unsigned splits);
  static void keep(Valuation values, std::deque<Valuation>& among);

  Terms& terms_;
  Z3Check check_;
  SymbolSets sets_;
  Assumptions assumptions_;
  std::vector<std::size_t> levels_;                 ///< how many assumptions there were
  std::deque<Valuation> inputs_;                    ///< that satisfied some question, the last one first
  std::deque<Valuation> near_misses_;               ///< that satisfied a part of one
  std::map<Assumption, Assumptions> pieces_;        ///< of those that were asked about
  std::map<Assumption, Parted> parted_;             ///< likewise
  Refutations refutations_;                         ///< by Z3
  std::optional<Model> last_;
  const std::chrono::milliseconds time_;            ///< for each question
  ThreadClock::time_point deadline_ = ThreadClock::time_point::max();
  bool was_cut_short_ = false;
};

}  // namespace handoff::symbolic
