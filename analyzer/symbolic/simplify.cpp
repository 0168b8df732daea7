// SPDX-License-Identifier: Apache-2.0
// Sums in normal form, and what is known of their quotients and remainders; terms seen by some of the lanes.
//
// Slots and parities are remainders and quotients of counters. With a counter written as c + period * t, they come out
// as constants here, by arithmetic on the coefficients, where bit-blasting a division would not end.
#include <algorithm>
#include <bit>
#include <utility>

#include "analyzer/symbolic/fold.h"
#include "analyzer/symbolic/term.h"

namespace handoff::symbolic {

namespace {

using U128 = unsigned __int128;

/// Longer sums stay as they are written.
constexpr std::size_t kMaxParts = 8;

}  // namespace

void Terms::addTo(Linear& sum, TermId id, std::uint64_t factor) const {
  const Term& term = terms_[id];
  if (term.op == TermOp::kConstant) {
    sum.constant += factor * term.value;
  } else if (term.op == TermOp::kLaneConstant) {
    sum.has_lanes = true;
    for (unsigned lane = 0; lane < kLanes; ++lane) sum.lanes[lane] += factor * lane_constants_[term.value][lane];
  } else if (term.op == TermOp::kAdd) {
    addTo(sum, term.a, factor);
    addTo(sum, term.b, factor);
  } else if (term.op == TermOp::kMul && isConstant(term.b)) {
    addTo(sum, term.a, factor * terms_[term.b].value);
  } else {
    const auto at = std::lower_bound(sum.parts.begin(), sum.parts.end(), id, [](const auto& part, TermId other) { return part.first < other; });
    if (at != sum.parts.end() && at->first == id) {
      at->second += factor;
    } else {
      sum.parts.insert(at, {id, factor});
    }
  }
}

TermId Terms::fromLinear(const Linear& sum) {
  const std::uint64_t mask = widthMask(sum.width);
  TermId result = kConcrete;
  const auto append = [&](TermId term) {
    result = result == kConcrete ? term : intern({.op = TermOp::kAdd, .width = static_cast<std::uint8_t>(sum.width), .a = result, .b = term});
  };
  for (const auto& [atom, factor] : sum.parts) {
    if ((factor & mask) == 0) continue;
    append((factor & mask) == 1 ? atom
                                : intern({.op = TermOp::kMul, .width = static_cast<std::uint8_t>(sum.width), .a = atom, .b = constant(factor, sum.width)}));
  }
  LaneWords rest = sum.lanes;
  for (std::uint64_t& word : rest) word += sum.constant;
  const TermId last = lanes(rest, sum.width);
  if (result == kConcrete || !isConstant(last, 0)) append(last);
  return result;
}

TermId Terms::add(TermId a, TermId b) {
  if (TermId folded; foldChoice(TermOp::kAdd, a, b, folded)) return folded;
  Linear sum{.width = terms_[a].width};
  addTo(sum, a, 1);
  addTo(sum, b, 1);
  return sum.parts.size() > kMaxParts ? binary(TermOp::kAdd, a, b, sum.width) : fromLinear(sum);
}

TermId Terms::subtract(TermId a, TermId b) {
  Linear sum{.width = terms_[a].width};
  addTo(sum, a, 1);
  addTo(sum, b, ~0ull);
  return fromLinear(sum);
}

TermId Terms::multiply(TermId a, TermId b) {
  if (isConstant(a)) std::swap(a, b);
  const unsigned width = terms_[a].width;
  if (TermId folded; foldChoice(TermOp::kMul, a, b, folded)) return folded;
  if (isConstant(b)) {
    Linear sum{.width = width};
    addTo(sum, a, terms_[b].value);
    return fromLinear(sum);
  }
  if (a > b) std::swap(a, b);
  return binary(TermOp::kMul, a, b, width);
}

// No part of the sum is negative, and their bounds add up to less than 2^width.
bool Terms::cannotWrap(const Linear& sum) const {
  U128 most = sum.constant & widthMask(sum.width);
  if (sum.has_lanes) {
    std::uint64_t highest = 0;
    for (const std::uint64_t word : sum.lanes) highest = std::max(highest, (word + sum.constant) & widthMask(sum.width));
    most = highest;
  }
  for (const auto& [atom, factor] : sum.parts) most += U128{terms_[atom].high} * (factor & widthMask(sum.width));
  return most <= widthMask(sum.width);
}

// A mask that keeps all the bits which are asked for changes nothing.
void Terms::showThroughMasks(Linear& sum, std::uint64_t asked) const {
  const auto parts = std::exchange(sum.parts, {});
  for (const auto& [atom, factor] : parts) {
    const Term& term = terms_[atom];
    const bool is_mask = term.op == TermOp::kAnd && isConstant(term.b) && (terms_[term.b].value & asked) == asked;
    addTo(sum, is_mask ? term.a : atom, factor);
  }
}

TermId Terms::reduceRemainder(TermId a, std::uint64_t divisor) {
  const unsigned width = terms_[a].width;
  if (divisor == 1) return constant(0, width);
  if (terms_[a].high < divisor) return a;
  const bool is_power = std::has_single_bit(divisor);
  Linear sum{.width = width};
  addTo(sum, a, 1);
  if (is_power) showThroughMasks(sum, divisor - 1);
  if (is_power || cannotWrap(sum)) {
    // Multiples of the divisor go; for a power of two even through a wrap.
    const std::size_t before = sum.parts.size();
    std::erase_if(sum.parts, [&](const auto& part) { return (part.second & widthMask(width)) % divisor == 0; });
    sum.constant = (sum.constant & widthMask(width)) % divisor;
    for (std::uint64_t& word : sum.lanes) word = (word & widthMask(width)) % divisor;
    if (is_power || sum.parts.size() != before) a = fromLinear(sum);
    if (terms_[a].high < divisor) return a;
  }
  if (is_power) return binary(TermOp::kAnd, a, constant(divisor - 1, width), width);
  return binary(TermOp::kUnsignedRem, a, constant(divisor, width), width);
}

TermId Terms::reduceQuotient(TermId a, std::uint64_t divisor) {
  const unsigned width = terms_[a].width;
  if (divisor == 1) return a;
  if (terms_[a].high < divisor) return constant(0, width);
  Linear sum{.width = width};
  addTo(sum, a, 1);
  if (cannotWrap(sum)) {
    Linear whole{.width = width}, rest = sum;
    rest.parts.clear();
    for (const auto& [atom, factor] : sum.parts) {
      const std::uint64_t exact = factor & widthMask(width);
      if (exact % divisor == 0) {
        whole.parts.emplace_back(atom, exact / divisor);
      } else {
        rest.parts.emplace_back(atom, exact);
      }
    }
    if (!whole.parts.empty()) return add(fromLinear(whole), reduceQuotient(fromLinear(rest), divisor));
  }
  const Term x = terms_[a];
  if (x.op == TermOp::kTruncate && terms_[x.a].high <= widthMask(width)) {
    // Nothing is cut off, and the wide product may be a division.
    const unsigned wide = terms_[x.a].width;
    const TermId quotient = std::has_single_bit(divisor)
                                ? shiftRight(x.a, constant(static_cast<unsigned>(std::countr_zero(divisor)), wide), /*is_signed=*/false)
                                : reduceQuotient(x.a, divisor);
    return resize(quotient, width);
  }
  if (x.op == TermOp::kUnsignedDiv && isConstant(x.b) && !isConstant(x.b, 0) && U128{terms_[x.b].value} * divisor <= widthMask(width)) {
    return reduceQuotient(x.a, terms_[x.b].value * divisor);
  }
  return binary(TermOp::kUnsignedDiv, a, constant(divisor, width), width);
}

// Compilers divide by a constant d through a product with m = (2^s + e) / d. For x <= X the high part is the quotient
// when 0 <= e and X * e < 2^s: x*m/2^s exceeds x/d by x*e/(d*2^s) < 1/d, too little to reach the next integer.
TermId Terms::magicQuotient(TermId x, std::uint64_t factor, unsigned shift) {
  if (factor < 3 || shift >= 100 || shift < 2) return kConcrete;
  const U128 power = U128{1} << shift;
  const U128 divisor = (power + factor / 2) / factor;
  if (divisor < 3 || divisor > widthMask(terms_[x].width)) return kConcrete;
  const U128 product = divisor * factor;
  if (product < power) return kConcrete;
  const U128 excess = product - power;
  const U128 most = terms_[x].high;
  if (excess != 0 && most > (power - 1) / excess) return kConcrete;
  return reduceQuotient(x, static_cast<std::uint64_t>(divisor));
}

// Extension by zeros of a sum that cannot wrap is the sum of the extensions.
TermId Terms::extendSum(TermId a, unsigned width) {
  const TermOp op = terms_[a].op;
  if (op != TermOp::kAdd && op != TermOp::kMul) return kConcrete;
  Linear sum{.width = terms_[a].width};
  addTo(sum, a, 1);
  const bool is_atom = sum.parts.size() == 1 && sum.parts.front().first == a;  // a product of two terms
  if (is_atom || !cannotWrap(sum)) return kConcrete;
  Linear wide{.width = width, .constant = sum.constant & widthMask(sum.width), .has_lanes = sum.has_lanes, .lanes = sum.lanes};
  if (sum.has_lanes) {
    for (std::uint64_t& word : wide.lanes) word = (word + sum.constant) & widthMask(sum.width);
    wide.constant = 0;
  }
  const auto parts = sum.parts;
  for (const auto& [atom, factor] : parts) addTo(wide, resize(atom, width), factor & widthMask(sum.width));
  return fromLinear(wide);
}

template <typename F>
TermId Terms::rebuild(const Term& term, F&& child) {
  const TermId a = child(term.a);
  switch (term.op) {
    case TermOp::kZeroExtend: return resize(a, term.width);
    case TermOp::kSignExtend: return resize(a, term.width, /*is_signed=*/true);
    case TermOp::kTruncate: return resize(a, term.width);
    default: break;
  }
  const TermId b = child(term.b);
  switch (term.op) {
    case TermOp::kAdd: return add(a, b);
    case TermOp::kMul: return multiply(a, b);
    case TermOp::kMulHighUnsigned: return multiplyHigh(a, b, false);
    case TermOp::kMulHighSigned: return multiplyHigh(a, b, true);
    case TermOp::kUnsignedDiv: return divide(a, b, false);
    case TermOp::kSignedDiv: return divide(a, b, true);
    case TermOp::kUnsignedRem: return remainder(a, b, false);
    case TermOp::kSignedRem: return remainder(a, b, true);
    case TermOp::kShl: return shiftLeft(a, b);
    case TermOp::kShrLogical: return shiftRight(a, b, false);
    case TermOp::kShrArithmetic: return shiftRight(a, b, true);
    case TermOp::kAnd: return bitAnd(a, b);
    case TermOp::kOr: return bitOr(a, b);
    case TermOp::kXor: return bitXor(a, b);
    case TermOp::kEqual: return equal(a, b);
    case TermOp::kUnsignedLess: return less(a, b, false);
    case TermOp::kSignedLess: return less(a, b, true);
    default: return choose(a, b, child(term.c));
  }
}

TermId Terms::ofLane(TermId id, unsigned lane) {
  const Term term = terms_[id];
  if (!term.has_lanes) return id;
  if (term.op == TermOp::kLaneConstant) return constant(lane_constants_[term.value][lane], term.width);
  const std::uint64_t key = (std::uint64_t{id} << 5) | lane;
  if (const auto known = of_lane_.find(key); known != of_lane_.end()) return known->second;
  const TermId result = rebuild(term, [&](TermId child) { return ofLane(child, lane); });
  of_lane_.emplace(key, result);
  return result;
}

TermId Terms::ofLanes(TermId id, std::uint32_t mask) {
  if (mask != 0 && std::has_single_bit(mask)) return ofLane(id, static_cast<unsigned>(std::countr_zero(mask)));
  while (terms_[id].op == TermOp::kChoose && terms_[terms_[id].a].op == TermOp::kLaneConstant) {
    std::uint32_t chosen = 0;
    const LaneWords& words = laneWords(terms_[id].a);
    for (unsigned lane = 0; lane < kLanes; ++lane) chosen |= static_cast<std::uint32_t>(words[lane] & 1) << lane;
    if ((mask & ~chosen) == 0) {
      id = terms_[id].b;
    } else if ((mask & chosen) == 0) {
      id = terms_[id].c;
    } else {
      break;
    }
  }
  return id;
}

TermId Terms::substitute(TermId id, const Substitution& substitution) {
  std::unordered_map<TermId, TermId> done;
  const auto visit = [&](TermId at, const auto& self) -> TermId {
    const Term term = terms_[at];
    if (!term.has_symbols) return at;
    if (term.op == TermOp::kSymbol) {
      const auto replaced = substitution.find(at);
      return replaced == substitution.end() ? at : replaced->second;
    }
    if (const auto known = done.find(at); known != done.end()) return known->second;
    const TermId result = rebuild(term, [&](TermId child) { return child == kConcrete ? child : self(child, self); });
    done.emplace(at, result);
    return result;
  };
  return visit(id, visit);
}

TermId Terms::copy(const Terms& from, TermId id, Substitution& known) {
  if (id == kConcrete) return id;
  if (const auto done = known.find(id); done != known.end()) return done->second;
  const Term term = from[id];
  const TermId result = term.op == TermOp::kConstant       ? constant(term.value, term.width)
                        : term.op == TermOp::kLaneConstant ? lanes(from.laneWords(id), term.width)
                                                           : rebuild(term, [&](TermId child) { return copy(from, child, known); });
  known.emplace(id, result);
  return result;
}

}  // namespace handoff::symbolic
