// SPDX-License-Identifier: Apache-2.0
// Which values of its only symbol satisfy a predicate.
//
// Most conditions of a kernel speak of one size, and are comparisons of sums, quotients and minima of it. Such a term is
// a few pieces, each monotonic, and what a comparison holds for is a few intervals: found by bisection, without a solver.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analyzer/symbolic/term.h"

namespace handoff::symbolic {

/// A set of numbers: disjoint intervals, ascending, both ends inclusive.
class Intervals {
 public:
  using Part = std::pair<std::uint64_t, std::uint64_t>;

  Intervals() = default;
  Intervals(std::uint64_t low, std::uint64_t high) : parts_{{low, high}} {}

  const std::vector<Part>& parts() const { return parts_; }
  bool isEmpty() const { return parts_.empty(); }
  bool contains(std::uint64_t word) const;
  /// Above all that is in it.
  void append(std::uint64_t low, std::uint64_t high);
  Intervals intersectedWith(const Intervals& other) const;
  /// The numbers from low to high that are not in it.
  Intervals complement(std::uint64_t low, std::uint64_t high) const;

 private:
  std::vector<Part> parts_;
};

class SymbolSets {
 public:
  explicit SymbolSets(const Terms& terms) : terms_(terms) {}
  /// Of a predicate of one lane with exactly one symbol: the symbol's values, within its bounds, for which it holds.
  /// Nothing where the predicate is not of the forms that are understood here.
  const std::optional<Intervals>& of(TermId predicate);

 private:
  using Wide = __int128;
  /// Between low and high the term is floor((slope * x + offset) / divisor).
  struct Piece {
    std::uint64_t low = 0, high = 0;
    Wide slope = 0, offset = 0;
    std::uint64_t divisor = 1;

    Wide at(std::uint64_t x) const;
    bool isConstant() const { return slope == 0; }
  };
  /// Ascending; together they cover the symbol's bounds.
  using Pieces = std::vector<Piece>;

  const std::optional<Pieces>& piecesOf(TermId id);
  std::optional<Pieces> findPieces(const Term& term);
  std::optional<Pieces> choose(const Term& term);
  std::optional<Intervals> findSet(const Term& term);
  std::optional<Intervals> compare(const Term& term);
  static bool addWrapped(Piece piece, Wide modulus, Pieces& pieces);
  static std::optional<Pieces> wrapped(const Pieces& pieces, Wide modulus);
  static std::optional<Pieces> withSign(const Pieces& pieces, unsigned width);
  template <typename Combine> std::optional<Pieces> zip(const Pieces& a, const Pieces& b, Combine&& combine) const;
  template <typename Holds> static std::uint64_t firstWhere(const Piece& piece, Holds&& holds);
  Intervals domain() const { return {low_, high_}; }

  /// Constants, too, are pieces over the bounds of a symbol.
  std::uint64_t keyOf(TermId id) const { return std::uint64_t{symbol_} << 32 | id; }

  const Terms& terms_;
  TermId symbol_ = kConcrete;         ///< the one that is asked about
  std::uint64_t low_ = 0, high_ = 0;  ///< its bounds
  std::unordered_map<std::uint64_t, std::optional<Intervals>> sets_;
  std::unordered_map<std::uint64_t, std::optional<Pieces>> pieces_;
};

}  // namespace handoff::symbolic
