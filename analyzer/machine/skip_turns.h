// SPDX-License-Identifier: Apache-2.0
// Turns of a loop that a run need not make: they would be like those before, for as long as a count says.
//
// A loop with a fixed number of turns decides nothing on the inputs, and no closure ends it. But once its state has come
// back twice with registers that made equal steps, one turn is run with these registers as terms of the turns that have
// passed. Where all that it decides on them stays as it is for the next N turns, these are skipped: the registers take N
// steps at once (docs/soundness.md, "Turns that are skipped").
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "analyzer/machine/path.h"
#include "analyzer/support/thread_clock.h"

namespace handoff::machine {

/// A state, and what has been found on the way to it.
struct TurnSample {
  Boundary boundary;                      ///< with the words of the live registers
  std::vector<PathLog::Register> live;
  std::uint64_t round = 0;                ///< of the scheduler, skipped ones counted
  std::size_t faults = 0;                 ///< found so far, of any kind
  std::uint64_t guesses = 0;              ///< how often an unknown loop has been left or kept in by decree
};

/// A predicate of the turn, and what it was.
struct TurnCondition {
  TermId predicate = 0;
  bool holds = false;
};

/// Looks for a period: first for rounds that repeat by where the threads are, which is cheap, then at the states after
/// each such repetition.
class TurnFinder {
 public:
  /// A round is over, with the threads at these places. True when the state is asked for.
  bool endRound(std::uint64_t places);
  /// The state. True when a period has been found, that ends with it.
  bool add(symbolic::Terms& terms, TurnSample sample);
  const TurnSample& start() const { return samples_.back(); }
  /// Of the period.
  std::uint64_t rounds() const { return samples_.back().round - samples_[samples_.size() - 1 - turns_].round; }
  const std::vector<RegisterStep>& steps() const { return steps_; }
  /// Another loop, for all that is known.
  void startOver();
  /// The period led nowhere: the next one is looked for later.
  void giveUp();

 private:
  std::size_t repetition() const;

  std::vector<std::uint64_t> rounds_;
  std::size_t length_ = 0;      ///< of the repetition, in rounds; 0: none so far
  std::size_t left_ = 0;        ///< rounds to the next state
  std::size_t turns_ = 0;       ///< repetitions to the period
  std::size_t pause_ = 0, next_pause_ = 256;  ///< in rounds
  std::vector<TurnSample> samples_;
  std::vector<RegisterStep> steps_;
};

/// The turn that is run with terms.
struct TermTurn {
  PathLog log;
  TermId passed = symbolic::kConcrete;    ///< turns before it
  std::uint64_t rounds_left = 0;
  std::size_t limits_before = 0;
  std::vector<std::vector<std::uint32_t>> passes_before;  ///< by warp and op
};

/// What a run knows of its loops.
struct TurnSkips {
  TurnFinder finder;
  std::uint64_t round = 0;
  std::uint64_t guesses = 0;
  ThreadClock::duration spent{};          ///< on states
  symbolic::Terms terms;                  ///< where the run has no path
  SymbolicInputs no_inputs;
  std::optional<TermTurn> turn;
};

/// What the term is when no turns have passed; kConcrete where nothing else is open in it.
TermId atFirstTurn(symbolic::Terms& terms, TermId term, TermId passed);

/// For how many further turns, at most `most`, all conditions stay what they are; each depends on `turns` alone.
std::uint64_t turnsAlike(const symbolic::Terms& terms, TermId turns, const std::vector<TurnCondition>& conditions,
                         std::uint64_t most);

}  // namespace handoff::machine
