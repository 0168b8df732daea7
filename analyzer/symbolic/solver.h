// SPDX-License-Identifier: Apache-2.0
// Questions about terms, answered by Z3 (theory of bit-vectors).
#pragma once

#include <chrono>
#include <memory>
#include <optional>

#include "analyzer/symbolic/term.h"

namespace handoff::symbolic {

/// What is assumed, as a stack; terms must be predicates of one lane (Terms::ofLane).
class Solver {
 public:
  enum class Answer : std::uint8_t { kNo, kYes, kUnknown };

  /// `milliseconds`: for each question; one that takes longer is answered kUnknown.
  Solver(Terms& terms, unsigned milliseconds);
  ~Solver();
  Solver(const Solver&) = delete;
  Solver& operator=(const Solver&) = delete;

  /// From then on, everything is answered kUnknown.
  void setDeadline(std::chrono::steady_clock::time_point deadline) { deadline_ = deadline; }
  void push();
  void pop();
  void assume(TermId predicate, bool holds = true);
  /// Are there values of the symbols, within their bounds, for which all assumptions hold?
  Answer isFeasible();
  /// After kYes: such values; those of symbols that no assumption names are their lower bounds.
  Model model() const;
  /// Does the predicate follow from the assumptions? kUnknown is not "yes".
  Answer follows(TermId predicate, bool holds = true);

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
  Terms& terms_;
  std::unique_ptr<Z3> z3_;
  std::chrono::steady_clock::time_point deadline_ = std::chrono::steady_clock::time_point::max();
};

}  // namespace handoff::symbolic
