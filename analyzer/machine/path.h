// SPDX-License-Identifier: Apache-2.0
// What a run decided on its inputs: the conditions that other inputs would have decided differently, and the loops whose
// further turns would be like those that were seen.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "analyzer/machine/lanes.h"
#include "analyzer/machine/program.h"
#include "analyzer/symbolic/term.h"

namespace handoff::machine {

using symbolic::TermId;

/// The inputs that have a symbol; each still has its value in the Launch.
struct SymbolicInputs {
  struct Parameter {
    std::uint32_t offset = 0;   ///< in the parameter window
    std::uint32_t bytes = 0;
    TermId symbol = 0;
  };
  std::vector<Parameter> parameters;
  /// A pointer that is null or leads to a buffer of its own.
  struct Pointer {
    std::uint32_t offset = 0;   ///< in the parameter window
    TermId is_null = 0;         ///< a symbol of one bit
  };
  std::vector<Pointer> pointers;
  /// Index of the cluster (of the CTA where there is none) in the grid; kConcrete: as the launch says.
  std::array<TermId, 3> cluster_index{};
  /// A word in global memory that no thread writes, at an address that depends on the others.
  struct Word {
    TermId address = 0;
    std::uint32_t bytes = 0;
    TermId symbol = 0;
    std::uint64_t assumed = 0;  ///< its value where nobody asks for another one
  };
  std::vector<Word> words;      ///< runs add those that they meet
};

/// A condition on the inputs that the run has decided, for some lanes of a warp.
struct Decision {
  enum class Kind : std::uint8_t {
    kControl,  ///< a branch or a guard on which the protocol depends
    kAccess,   ///< decides only whether plain reads happen: a run with them covers one without
    kValue,    ///< an operand has the value that it has: an address, a count, an identifier
  };
  Kind kind = Kind::kControl;
  TermId condition = 0;          ///< a predicate
  LaneMask lanes = 0, truth = 0; ///< lanes that were asked, and those for which it holds
  std::uint32_t instr = 0;
  bool leaves_loop = false;
  bool wants = true;             ///< kAccess: the side with the accesses
  TermId value = 0;              ///< kValue: the operand itself, where any other value is another matter
  LaneMask value_lanes = 0;      ///< whose operand it is
};

/// A register that moves on by the same amount with every period of a loop.
struct RegisterStep {
  std::uint32_t warp = 0;        ///< of the cluster
  Slot slot = 0;
  symbolic::LaneWords delta{};   ///< by lane, modulo its width
  friend bool operator==(const RegisterStep&, const RegisterStep&) = default;
};

/// A state that comes back after a period, but for the steps. Where a run meets the state, `turns` more periods may have
/// passed before it.
struct Closure {
  std::uint64_t state = 0;            ///< fingerprint
  std::uint64_t registers = 0;        ///< hash of the live registers in the state that was met first
  TermId turns = 0;                   ///< a symbol
  std::size_t length = 0;             ///< of the period, in boundaries
  std::vector<RegisterStep> steps;
};

/// Where all warps have had a turn since a decision.
struct Boundary {
  std::uint64_t state = 0;            ///< of everything but the words of live registers
  std::uint64_t registers = 0;        ///< of those
  std::size_t decisions = 0;          ///< PathLog::decisions so far
  std::array<std::uint64_t, 6> parts{}; ///< of `state`, by StatePart
  std::vector<TermId> terms;          ///< of the live registers, warp after warp
  std::vector<std::uint64_t> words;   ///< of the same, 32 each
};

/// Parts of a state; what differs in one is what keeps a loop from closing.
enum class StatePart : std::uint8_t { kControl, kShared, kBarriers, kGroups, kClocks, kContents };
const char* toString(StatePart part);

class PathLog {
 public:
  /// `values`: of the words among the inputs, by symbol; those that are not there have the assumed one.
  PathLog(symbolic::Terms& terms, SymbolicInputs& inputs, symbolic::Model values)
      : terms_(terms), inputs_(inputs), values_(std::move(values)) {}

  /// Of the same inputs, with nothing in it yet.
  PathLog empty() const { return {terms_, inputs_, values_}; }

  symbolic::Terms& terms() const { return terms_; }
  const SymbolicInputs& inputs() const { return inputs_; }
  /// Boundaries keep the registers' words, for findPeriod; costs memory.
  bool keeps_words = false;
  std::vector<const Closure*> closures;   ///< to be applied where their states are met
  /// A probe of its only closure: where it may apply from, in boundaries. Other states are not told apart then.
  std::optional<std::size_t> states_from{};

  // --- written by the run ---
  struct Applied { const Closure* closure = nullptr; std::size_t decisions = 0, boundary = 0; };
  /// After one period: what the stepping registers hold, and what they ought to.
  struct Returned {
    const Closure* closure = nullptr;
    std::size_t decisions = 0;
    struct Register { TermId found = 0, expected = 0; };
    std::vector<Register> registers;
  };
  std::vector<Decision> decisions;
  std::vector<Boundary> boundaries;
  std::vector<Applied> applied;
  std::vector<Returned> returned;
  /// What the stepping registers held where a closure was applied.
  std::map<std::tuple<const Closure*, std::uint32_t, Slot>, TermId> base_terms;
  /// Registers of all boundaries, in the order of Boundary::terms: only for the boundary with that state.
  struct Register { std::uint32_t warp = 0; Slot slot = 0; unsigned width = 0; };
  std::map<std::uint64_t, std::vector<Register>> registers_of;

  /// Starts over, for another attempt at the same run.
  void clear();
  void add(const Decision& decision);
  /// The word at an address; nothing when there are too many to be inputs.
  std::optional<SymbolicInputs::Word> wordAt(TermId address, std::uint32_t bytes);
  std::uint64_t valueOf(const SymbolicInputs::Word& word) const;
  /// Whether the state at the next boundary counts.
  bool needsState() const;
  bool hasDecided() const { return has_decided_; }
  void startRound() { has_decided_ = false; }

 private:
  symbolic::Terms& terms_;
  SymbolicInputs& inputs_;
  const symbolic::Model values_;
  std::map<std::tuple<TermId, LaneMask, LaneMask, int>, bool> known_;
  bool has_decided_ = false;
};

/// The steps of these registers between two boundaries of equal state; nothing if one makes none that a closure can describe.
std::optional<std::vector<RegisterStep>> stepsBetween(symbolic::Terms& terms, const std::vector<PathLog::Register>& registers,
                                                      const Boundary& from, const Boundary& to);

/// A state that a run met three times at equal distances, with registers that made equal steps.
struct Period {
  std::size_t first = 0, length = 0;      ///< in boundaries
  std::vector<RegisterStep> steps;
};

/// The periods of a run, shortest first and each at its first occurrence from boundary `from` on; at most `most`.
std::vector<Period> findPeriods(const PathLog& log, std::size_t from, std::size_t most);

}  // namespace handoff::machine
