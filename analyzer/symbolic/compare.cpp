// SPDX-License-Identifier: Apache-2.0
// Comparisons: with a constant, they are brought down to what the term is made of, so that the many conditions of a run
// which say the same become one term, and most of them a range of one symbol.
#include <optional>

#include "analyzer/symbolic/fold.h"
#include "analyzer/symbolic/term.h"

namespace handoff::symbolic {

namespace {

using U128 = unsigned __int128;
using S128 = __int128;

/// The odd number's inverse modulo 2^64: each step doubles the bits that are right.
std::uint64_t inverseOf(std::uint64_t odd) {
  std::uint64_t inverse = odd;
  for (int i = 0; i < 5; ++i) inverse *= 2 - odd * inverse;
  return inverse;
}

}  // namespace

// A sum a + k that does not leave the numbers of its width, signed k: then k.
std::optional<std::int64_t> Terms::offsetOf(const Term& sum) const {
  if (sum.op != TermOp::kAdd || !isConstant(sum.b)) return std::nullopt;
  const Term& a = terms_[sum.a];
  const auto offset = static_cast<std::int64_t>(signExtended(terms_[sum.b].value, sum.width));
  const S128 low = S128{a.low} + offset, high = S128{a.high} + offset;
  if (low < 0 || high > S128{widthMask(sum.width)}) return std::nullopt;
  return offset;
}

// What a predicate is for a choice, where it is known for one side.
template <typename Predicate>
std::optional<TermId> Terms::eitherOf(const Term& choice, Predicate&& holds) {
  const Term then = terms_[choice.b], otherwise = terms_[choice.c];
  if (then.has_symbols && otherwise.has_symbols) return std::nullopt;  // two questions instead of one
  const TermId if_then = holds(choice.b), if_otherwise = holds(choice.c);
  if (isConstant(if_then)) {
    return isConstant(if_then, 1) ? bitOr(choice.a, if_otherwise) : bitAnd(bitNot(choice.a), if_otherwise);
  }
  if (isConstant(if_otherwise)) {
    return isConstant(if_otherwise, 1) ? bitOr(bitNot(choice.a), if_then) : bitAnd(choice.a, if_then);
  }
  return std::nullopt;
}

TermId Terms::equalTo(TermId a, std::uint64_t word) {
  const Term x = terms_[a];
  if (word < x.low || word > x.high) return constant(0, 1);
  if (x.width == 1) return word != 0 ? a : bitNot(a);
  const auto value = [&](TermId id) { return terms_[id].value; };
  switch (x.op) {
    case TermOp::kAdd:
      if (isConstant(x.b)) return equalTo(x.a, (word - value(x.b)) & widthMask(x.width));
      break;
    case TermOp::kMul:
      if (!isConstant(x.b)) break;
      if ((value(x.b) & 1) != 0) return equalTo(x.a, (word * inverseOf(value(x.b))) & widthMask(x.width));
      if (U128{terms_[x.a].high} * value(x.b) <= widthMask(x.width)) {
        return word % value(x.b) == 0 ? equalTo(x.a, word / value(x.b)) : constant(0, 1);
      }
      break;
    case TermOp::kZeroExtend: return equalTo(x.a, word);  // within its bounds
    case TermOp::kChoose:
      if (const auto either = eitherOf(x, [&](TermId side) { return equalTo(side, word); })) return *either;
      break;
    default: break;
  }
  return binary(TermOp::kEqual, a, constant(word, x.width), 1);
}

// a < limit, as numbers without sign.
TermId Terms::below(TermId a, std::uint64_t limit) {
  const Term x = terms_[a];
  if (x.high < limit) return constant(1, 1);
  if (x.low >= limit) return constant(0, 1);
  const auto value = [&](TermId id) { return terms_[id].value; };
  // Beyond the bounds of the smaller term, either answer is found there.
  const auto belowWide = [&](TermId smaller, U128 wide) {
    return wide > terms_[smaller].high ? constant(1, 1) : below(smaller, static_cast<std::uint64_t>(wide));
  };
  switch (x.op) {
    case TermOp::kAdd:
      if (const auto offset = offsetOf(x)) {
        const S128 moved = S128{limit} - *offset;
        return moved <= 0 ? constant(0, 1) : belowWide(x.a, static_cast<U128>(moved));
      }
      break;
    case TermOp::kMul:
      if (isConstant(x.b) && U128{terms_[x.a].high} * value(x.b) <= widthMask(x.width)) {
        return belowWide(x.a, (U128{limit} + value(x.b) - 1) / value(x.b));
      }
      break;
    case TermOp::kUnsignedDiv:
      if (isConstant(x.b) && value(x.b) != 0) return belowWide(x.a, U128{limit} * value(x.b));
      break;
    case TermOp::kShrLogical:
      if (isConstant(x.b) && value(x.b) < x.width) return belowWide(x.a, U128{limit} << value(x.b));
      break;
    case TermOp::kZeroExtend: return below(x.a, limit);
    case TermOp::kChoose:
      if (const auto either = eitherOf(x, [&](TermId side) { return below(side, limit); })) return *either;
      break;
    default: break;
  }
  return binary(TermOp::kUnsignedLess, a, constant(limit, x.width), 1);
}

// a < limit, as numbers with sign, where `a` may be negative.
TermId Terms::belowSigned(TermId a, std::int64_t limit) {
  const Term x = terms_[a];
  if (x.op == TermOp::kAdd && isConstant(x.b) && terms_[x.a].high < signBit(x.width)) {
    const auto offset = static_cast<std::int64_t>(signExtended(terms_[x.b].value, x.width));
    if (S128{terms_[x.a].high} + offset < S128{signBit(x.width)}) {
      const S128 moved = S128{limit} - offset;
      if (moved <= 0) return constant(0, 1);
      return moved > S128{terms_[x.a].high} ? constant(1, 1) : below(x.a, static_cast<std::uint64_t>(moved));
    }
  }
  if (x.op == TermOp::kChoose) {
    const auto isLess = [&](TermId side) { return less(side, constant(static_cast<std::uint64_t>(limit), x.width), /*is_signed=*/true); };
    if (const auto either = eitherOf(x, isLess)) return *either;
  }
  return binary(TermOp::kSignedLess, a, constant(static_cast<std::uint64_t>(limit), x.width), 1);
}

TermId Terms::equal(TermId a, TermId b) {
  if (isConstant(a)) std::swap(a, b);
  const Term x = terms_[a], y = terms_[b];
  if (a == b) return constant(1, 1);
  if (x.high < y.low || y.high < x.low) return constant(0, 1);
  if (y.op == TermOp::kConstant) return equalTo(a, y.value);
  if (a > b) std::swap(a, b);
  return binary(TermOp::kEqual, a, b, 1);
}

TermId Terms::less(TermId a, TermId b, bool is_signed) {
  const Term x = terms_[a], y = terms_[b];
  if (a == b) return constant(0, 1);
  const std::uint64_t sign = signBit(x.width);
  const bool is_plain = !is_signed || (x.high < sign && y.high < sign);
  if (is_plain && x.high < y.low) return constant(1, 1);
  if (is_plain && x.low >= y.high) return constant(0, 1);
  const auto numberOf = [&](const Term& term) { return static_cast<std::int64_t>(signExtended(term.value, term.width)); };
  // c < x is "not x < c + 1", where there is such a number.
  if (y.op == TermOp::kConstant) return is_plain ? below(a, y.value) : belowSigned(a, numberOf(y));
  if (x.op == TermOp::kConstant && is_plain && x.value < widthMask(x.width)) return bitNot(below(b, x.value + 1));
  if (x.op == TermOp::kConstant && !is_plain && x.value != sign - 1) return bitNot(belowSigned(b, numberOf(x) + 1));
  return binary(is_plain ? TermOp::kUnsignedLess : TermOp::kSignedLess, a, b, 1);
}

}  // namespace handoff::symbolic
