// SPDX-License-Identifier: Apache-2.0
// Bit-vector terms over the inputs of a kernel, hash-consed: equal terms have equal ids.
//
// A term stands for one register of a warp, so it has 32 values at once. Where lanes differ by a constant (thread
// indices), the term holds a leaf with one constant a lane; a whole warp instruction is then a single node.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "analyzer/symbolic/id_table.h"

namespace handoff::symbolic {

/// Index into Terms; kConcrete: no term, the value does not depend on any symbol.
using TermId = std::uint32_t;
inline constexpr TermId kConcrete = 0;

inline constexpr unsigned kLanes = 32;
using LaneWords = std::array<std::uint64_t, kLanes>;

enum class TermOp : std::uint8_t {
  kSymbol, kConstant, kLaneConstant,
  kAdd, kMul, kMulHighUnsigned, kMulHighSigned, kUnsignedDiv, kSignedDiv, kUnsignedRem, kSignedRem,
  kShl, kShrLogical, kShrArithmetic, kAnd, kOr, kXor,
  kZeroExtend, kSignExtend, kTruncate,
  kEqual, kUnsignedLess, kSignedLess,   ///< of width 1, as all predicates
  kChoose,                              ///< a ? b : c
};

struct Term {
  TermOp op = TermOp::kConstant;
  std::uint8_t width = 1;               ///< bits, 1 to 64
  bool has_lanes = false;               ///< some lanes' values differ
  bool has_symbols = false;
  TermId a = 0, b = 0, c = 0;
  std::uint64_t value = 0;              ///< kConstant: the value; kSymbol, kLaneConstant: an index
  std::uint64_t low = 0, high = ~0ull;  ///< bounds of the value, unsigned

  friend bool operator==(const Term& x, const Term& y) {
    return x.op == y.op && x.width == y.width && x.a == y.a && x.b == y.b && x.c == y.c && x.value == y.value;
  }
};

struct Symbol {
  std::string name;
  unsigned width = 32;
  std::uint64_t low = 0, high = 0;  ///< bounds, unsigned and inclusive
};

/// Values of symbols, by their index.
using Model = std::vector<std::uint64_t>;

class Terms {
 public:
  Terms();

  const Term& operator[](TermId id) const { return terms_[id]; }
  const std::vector<Symbol>& symbols() const { return symbols_; }
  const LaneWords& laneWords(TermId id) const { return lane_constants_[terms_[id].value]; }

  /// A new symbol; all values of `width` bits between the bounds.
  TermId symbol(std::string name, unsigned width, std::uint64_t low, std::uint64_t high);
  TermId constant(std::uint64_t value, unsigned width);
  TermId lanes(const LaneWords& words, unsigned width);

  // Operations on terms of equal width; the result is as simple as the rules here make it. Semantics are those of
  // SMT-LIB bit-vectors, but for division by zero, which gives what PTX code may not rely on: any fixed value.
  TermId add(TermId a, TermId b);
  TermId subtract(TermId a, TermId b);
  TermId multiply(TermId a, TermId b);
  TermId multiplyHigh(TermId a, TermId b, bool is_signed);
  TermId divide(TermId a, TermId b, bool is_signed);
  TermId remainder(TermId a, TermId b, bool is_signed);
  TermId shiftLeft(TermId a, TermId b);
  TermId shiftRight(TermId a, TermId b, bool is_signed);
  TermId bitAnd(TermId a, TermId b);
  TermId bitOr(TermId a, TermId b);
  TermId bitXor(TermId a, TermId b);
  TermId bitNot(TermId a);
  TermId equal(TermId a, TermId b);
  TermId less(TermId a, TermId b, bool is_signed);
  TermId choose(TermId condition, TermId then, TermId otherwise);
  /// To `width` bits: truncated, or extended by zeros or by the sign.
  TermId resize(TermId a, unsigned width, bool is_signed = false);

  /// The term of one lane, without lane constants.
  TermId ofLane(TermId id, unsigned lane);
  /// What the term is for the lanes of `mask`, freed of choices between other lanes.
  TermId ofLanes(TermId id, std::uint32_t mask);
  /// The lanes of `mask` have `then`, the others `otherwise`.
  TermId merge(std::uint32_t mask, TermId then, TermId otherwise);
  /// With some symbols replaced by terms of the same width.
  using Substitution = std::unordered_map<TermId, TermId>;
  TermId substitute(TermId id, const Substitution& substitution);
  /// As a number without sign, whatever the inputs are; false where that is not seen from its choices and their
  /// conditions.
  bool isAtMost(TermId id, std::uint64_t most);
  /// The term `id` of another store. `known`: what its terms are here; it must hold the symbols, and takes the rest.
  TermId copy(const Terms& from, TermId id, Substitution& known);

  bool isConstant(TermId id) const { return terms_[id].op == TermOp::kConstant; }
  bool isConstant(TermId id, std::uint64_t value) const { return isConstant(id) && terms_[id].value == value; }
  std::uint64_t evaluate(TermId id, unsigned lane, const Model& model) const;
  /// The symbols that occur, by their terms' ids.
  const std::vector<TermId>& symbolsOf(TermId id) const;
  bool contains(TermId id, TermId symbol) const;
  /// The words of all constants that occur.
  std::set<std::uint64_t> constantsOf(TermId id) const;
  std::string text(TermId id) const;

 private:
  /// constant + sum of coefficient * atom, modulo 2^width.
  struct Linear {
    unsigned width = 0;
    std::uint64_t constant = 0;
    bool has_lanes = false;
    LaneWords lanes{};                                      ///< added to the constant
    std::vector<std::pair<TermId, std::uint64_t>> parts{};  ///< sorted by atom
  };

  /// A condition, and whether it holds.
  using Fact = std::pair<TermId, bool>;
  using Facts = std::vector<Fact>;

  bool contradicts(TermId condition, bool holds, const Facts& facts) const;
  void addFacts(TermId condition, bool holds, Facts& facts) const;
  bool isNatural(TermId id, const Facts& facts, unsigned depth);
  bool isAtMost(TermId id, std::uint64_t most, Facts& facts, bool is_natural);
  TermId intern(Term term);
  TermId binary(TermOp op, TermId a, TermId b, unsigned width);
  void bound(Term& term) const;
  void boundShift(Term& term) const;
  void boundChoice(Term& term) const;
  bool foldBinary(TermOp op, TermId a, TermId b, unsigned width, TermId& result);
  bool foldChoice(TermOp op, TermId a, TermId b, TermId& result);
  std::optional<std::int64_t> offsetOf(const Term& sum) const;
  template <typename Predicate> std::optional<TermId> eitherOf(const Term& choice, Predicate&& holds);
  TermId equalTo(TermId a, std::uint64_t word);
  TermId below(TermId a, std::uint64_t limit);
  TermId belowSigned(TermId a, std::int64_t limit);
  void addTo(Linear& sum, TermId term, std::uint64_t factor) const;
  TermId fromLinear(const Linear& sum);
  bool cannotWrap(const Linear& sum) const;
  void showThroughMasks(Linear& sum, std::uint64_t asked) const;
  TermId reduceRemainder(TermId a, std::uint64_t divisor);
  TermId reduceQuotient(TermId a, std::uint64_t divisor);
  TermId magicQuotient(TermId x, std::uint64_t factor, unsigned shift);
  TermId extendSum(TermId a, unsigned width);
  template <typename F> void forEachPart(TermId id, F&& visit) const;
  template <typename F> TermId rebuild(const Term& term, F&& child);

  std::vector<Term> terms_;
  std::vector<Symbol> symbols_;
  std::vector<LaneWords> lane_constants_;
  IdTable ids_, lane_constant_ids_;
  std::unordered_map<std::uint64_t, TermId> of_lane_;
  mutable std::vector<std::uint32_t> symbols_index_;       ///< by term: index into symbols_of_, plus 1
  mutable std::deque<std::vector<TermId>> symbols_of_;
};

/// All ones in the low `width` bits.
constexpr std::uint64_t widthMask(unsigned width) { return width >= 64 ? ~0ull : (1ull << width) - 1; }

}  // namespace handoff::symbolic
