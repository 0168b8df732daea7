// SPDX-License-Identifier: Apache-2.0
// Interning of terms, their bounds, and the constructors.
#include "analyzer/symbolic/term.h"

#include <algorithm>
#include <bit>

#include "analyzer/symbolic/fold.h"

namespace handoff::symbolic {

namespace {

using U128 = unsigned __int128;

/// So many low bits of the term are certainly zero.
unsigned zeroBits(const Terms& terms, TermId id, unsigned depth = 8) {
  const Term& term = terms[id];
  const auto of = [&](TermId part) { return depth == 0 ? 0 : zeroBits(terms, part, depth - 1); };
  const auto ofWord = [&](std::uint64_t word) { return std::min<unsigned>(static_cast<unsigned>(std::countr_zero(word)), term.width); };
  switch (term.op) {
    case TermOp::kConstant: return ofWord(term.value);
    case TermOp::kLaneConstant: {
      std::uint64_t any = 0;
      for (const std::uint64_t word : terms.laneWords(id)) any |= word;
      return ofWord(any);
    }
    case TermOp::kAdd: return std::min(of(term.a), of(term.b));
    case TermOp::kAnd: return std::max(of(term.a), of(term.b));
    case TermOp::kMul: return std::min<unsigned>(of(term.a) + of(term.b), term.width);
    default: return 0;
  }
}

}  // namespace

namespace {

std::uint64_t mix(std::uint64_t hash, std::uint64_t word) {
  hash = (hash ^ word) * 0xff51afd7ed558ccdull;
  return hash ^ (hash >> 32);
}

std::uint64_t hashOf(const Term& term) {
  std::uint64_t hash = static_cast<std::uint64_t>(term.op) * 0x9e3779b97f4a7c15ull + term.width;
  for (const std::uint64_t part : {std::uint64_t{term.a}, std::uint64_t{term.b}, std::uint64_t{term.c}, term.value}) hash = mix(hash, part);
  return hash;
}

std::uint64_t hashOf(const LaneWords& words) {
  std::uint64_t hash = 0;
  for (const std::uint64_t word : words) hash = mix(hash + 1, word);
  return hash;
}

}  // namespace

Terms::Terms() { terms_.emplace_back(); }

TermId Terms::intern(Term term) {
  return ids_.findOrInsert(hashOf(term), [&](TermId id) { return terms_[id] == term; }, [&] {
    const auto child = [&](TermId id) {
      term.has_lanes |= id != kConcrete && terms_[id].has_lanes;
      term.has_symbols |= id != kConcrete && terms_[id].has_symbols;
    };
    child(term.a), child(term.b), child(term.c);
    term.high = widthMask(term.width);
    bound(term);
    terms_.push_back(term);
    return static_cast<TermId>(terms_.size() - 1);
  });
}

TermId Terms::symbol(std::string name, unsigned width, std::uint64_t low, std::uint64_t high) {
  symbols_.push_back({std::move(name), width, low, high});
  return intern({.op = TermOp::kSymbol, .width = static_cast<std::uint8_t>(width), .has_symbols = true, .value = symbols_.size() - 1});
}

TermId Terms::constant(std::uint64_t value, unsigned width) {
  return intern({.op = TermOp::kConstant, .width = static_cast<std::uint8_t>(width), .value = value & widthMask(width)});
}

TermId Terms::lanes(const LaneWords& words, unsigned width) {
  LaneWords masked = words;
  for (std::uint64_t& word : masked) word &= widthMask(width);
  const bool is_uniform = std::all_of(masked.begin(), masked.end(), [&](std::uint64_t word) { return word == masked[0]; });
  if (is_uniform) return constant(masked[0], width);
  const std::uint32_t index = lane_constant_ids_.findOrInsert(
      hashOf(masked), [&](std::uint32_t known) { return lane_constants_[known] == masked; }, [&] {
        lane_constants_.push_back(masked);
        return static_cast<std::uint32_t>(lane_constants_.size() - 1);
      });
  return intern({.op = TermOp::kLaneConstant, .width = static_cast<std::uint8_t>(width), .has_lanes = true, .value = index});
}

// --- bounds ---

void Terms::boundShift(Term& term) const {
  const Term &x = terms_[term.a], &amount = terms_[term.b];
  if (amount.op != TermOp::kConstant || amount.value >= term.width) return;
  const unsigned by = static_cast<unsigned>(amount.value);
  const bool is_left = term.op == TermOp::kShl;
  if (is_left && (x.high > (widthMask(term.width) >> by))) return;
  if (term.op == TermOp::kShrArithmetic && x.high >= signBit(term.width)) return;
  term.low = is_left ? x.low << by : x.low >> by;
  term.high = is_left ? x.high << by : x.high >> by;
}

void Terms::bound(Term& term) const {
  const std::uint64_t all = widthMask(term.width);
  const Term &x = terms_[term.a], &y = terms_[term.b];
  const auto set = [&](std::uint64_t low, std::uint64_t high) { term.low = low, term.high = high; };
  switch (term.op) {
    case TermOp::kSymbol: set(symbols_[term.value].low, symbols_[term.value].high); break;
    case TermOp::kConstant: set(term.value, term.value); break;
    case TermOp::kLaneConstant: {
      const auto& words = lane_constants_[term.value];
      set(*std::min_element(words.begin(), words.end()), *std::max_element(words.begin(), words.end()));
      break;
    }
    case TermOp::kAdd:
      if (U128{x.high} + y.high <= all) set(x.low + y.low, x.high + y.high);
      break;
    case TermOp::kMul:
      if (U128{x.high} * y.high <= all) set(x.low * y.low, x.high * y.high);
      break;
    case TermOp::kMulHighUnsigned:
      set(static_cast<std::uint64_t>((U128{x.low} * y.low) >> term.width), static_cast<std::uint64_t>((U128{x.high} * y.high) >> term.width));
      break;
    case TermOp::kUnsignedDiv:
      if (y.low != 0) set(x.low / y.high, x.high / y.low);
      break;
    case TermOp::kUnsignedRem:
      if (y.low != 0) set(0, std::min(x.high, y.high - 1));
      break;
    case TermOp::kShl:
    case TermOp::kShrLogical:
    case TermOp::kShrArithmetic: boundShift(term); break;
    case TermOp::kAnd: set(0, std::min(x.high, y.high)); break;
    case TermOp::kOr:
    case TermOp::kXor: set(term.op == TermOp::kOr ? std::max(x.low, y.low) : 0, all & (std::bit_ceil((x.high | y.high) / 2 + 1) * 2 - 1)); break;
    case TermOp::kZeroExtend: set(x.low, x.high); break;
    case TermOp::kSignExtend:
      if (x.high < signBit(x.width)) set(x.low, x.high);
      break;
    case TermOp::kTruncate:
      if (x.high <= all) set(x.low, x.high);
      break;
    case TermOp::kChoose: boundChoice(term); break;
    default: break;
  }
}

// A value that is chosen because it is the lesser or the greater one (minimum, maximum, clamp) is bounded by the other.
void Terms::boundChoice(Term& term) const {
  const Term& condition = terms_[term.a];
  std::uint64_t then_low = terms_[term.b].low, then_high = terms_[term.b].high;
  std::uint64_t else_low = terms_[term.c].low, else_high = terms_[term.c].high;
  if (condition.op == TermOp::kUnsignedLess) {
    const Term &less = terms_[condition.a], &more = terms_[condition.b];
    if (condition.a == term.b) then_high = std::min(then_high, more.high - std::min<std::uint64_t>(more.high, 1));
    if (condition.b == term.b) then_low = std::max(then_low, less.low + (less.low != widthMask(less.width)));
    if (condition.a == term.c) else_low = std::max(else_low, more.low);
    if (condition.b == term.c) else_high = std::min(else_high, less.high);
  }
  // Chosen where it is not negative.
  const bool is_sign = condition.op == TermOp::kSignedLess && condition.a == term.c && terms_[condition.b].op == TermOp::kConstant &&
                       terms_[condition.b].value < signBit(terms_[condition.b].width);
  if (is_sign) {
    else_low = std::max(else_low, terms_[condition.b].value);
    else_high = std::min(else_high, signBit(term.width) - 1);
  }
  term.low = std::min(then_low, else_low), term.high = std::max(then_high, else_high);
}

// --- constructors ---

// Leaves are folded lane by lane.
bool Terms::foldBinary(TermOp op, TermId a, TermId b, unsigned width, TermId& result) {
  const Term x = terms_[a], y = terms_[b];
  if (x.has_symbols || y.has_symbols) return false;
  LaneWords words;
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    words[lane] = fold(op, x.width, evaluate(a, lane, {}), evaluate(b, lane, {}));
  }
  result = lanes(words, width);
  return true;
}

// A choice between constants stays one: then a comparison with it is its condition.
bool Terms::foldChoice(TermOp op, TermId a, TermId b, TermId& result) {
  const auto isChoice = [&](TermId id) { return terms_[id].op == TermOp::kChoose && isConstant(terms_[id].b) && isConstant(terms_[id].c); };
  const bool is_left = isChoice(a) && isConstant(b), is_right = isConstant(a) && isChoice(b);
  if (!is_left && !is_right) return false;
  const Term choice = terms_[is_left ? a : b], other = terms_[is_left ? b : a];
  const unsigned width = op >= TermOp::kEqual ? 1 : choice.width;
  const auto of = [&](TermId word) {
    const std::uint64_t x = terms_[word].value, y = other.value;
    return constant(is_left ? fold(op, choice.width, x, y) : fold(op, choice.width, y, x), width);
  };
  const TermId then = of(choice.b), otherwise = of(choice.c);
  result = choose(choice.a, then, otherwise);
  return true;
}

TermId Terms::binary(TermOp op, TermId a, TermId b, unsigned width) {
  if (TermId folded; foldBinary(op, a, b, width, folded) || foldChoice(op, a, b, folded)) return folded;
  return intern({.op = op, .width = static_cast<std::uint8_t>(width), .a = a, .b = b});
}

TermId Terms::multiplyHigh(TermId a, TermId b, bool is_signed) {
  if (isConstant(a)) std::swap(a, b);
  const unsigned width = terms_[a].width;
  if (is_signed && isConstant(b) && terms_[a].high < signBit(width)) {
    // For a number that is not negative the signed product is the unsigned one, less that number for a negative factor.
    const TermId high = multiplyHigh(a, b, /*is_signed=*/false);
    return terms_[b].value < signBit(width) ? high : subtract(high, a);
  }
  if (!is_signed && isConstant(b)) {
    if (const TermId quotient = magicQuotient(a, terms_[b].value, width); quotient != kConcrete) return quotient;
  }
  return binary(is_signed ? TermOp::kMulHighSigned : TermOp::kMulHighUnsigned, a, b, width);
}

TermId Terms::divide(TermId a, TermId b, bool is_signed) {
  const Term x = terms_[a], y = terms_[b];
  const bool is_plain = !is_signed || (x.high < signBit(x.width) && y.high < signBit(x.width));
  if (is_plain && y.op == TermOp::kConstant && y.value != 0) return reduceQuotient(a, y.value);
  return binary(is_plain ? TermOp::kUnsignedDiv : TermOp::kSignedDiv, a, b, x.width);
}

TermId Terms::remainder(TermId a, TermId b, bool is_signed) {
  const Term x = terms_[a], y = terms_[b];
  const bool is_plain = !is_signed || (x.high < signBit(x.width) && y.high < signBit(x.width));
  if (is_plain && y.op == TermOp::kConstant && y.value != 0) return reduceRemainder(a, y.value);
  return binary(is_plain ? TermOp::kUnsignedRem : TermOp::kSignedRem, a, b, x.width);
}

TermId Terms::shiftLeft(TermId a, TermId b) {
  const Term x = terms_[a], amount = terms_[b];
  if (amount.op == TermOp::kConstant) {
    return amount.value >= x.width ? constant(0, x.width) : multiply(a, constant(1ull << amount.value, x.width));
  }
  return binary(TermOp::kShl, a, b, x.width);
}

TermId Terms::shiftRight(TermId a, TermId b, bool is_signed) {
  const Term x = terms_[a], amount = terms_[b];
  const bool is_plain = !is_signed || x.high < signBit(x.width);
  if (is_plain && amount.op == TermOp::kConstant) {
    if (amount.value >= x.width) return constant(0, x.width);
    if (x.op == TermOp::kMul && isConstant(x.b) && U128{terms_[x.a].high} * terms_[x.b].value <= widthMask(x.width)) {
      const TermId quotient = magicQuotient(x.a, terms_[x.b].value, static_cast<unsigned>(amount.value));
      if (quotient != kConcrete) return quotient;
    }
    if (x.op == TermOp::kMulHighUnsigned && isConstant(x.b)) {
      const TermId quotient = magicQuotient(x.a, terms_[x.b].value, x.width + static_cast<unsigned>(amount.value));
      if (quotient != kConcrete) return quotient;
    }
    return reduceQuotient(a, 1ull << amount.value);
  }
  return binary(is_plain ? TermOp::kShrLogical : TermOp::kShrArithmetic, a, b, x.width);
}

TermId Terms::bitAnd(TermId a, TermId b) {
  if (isConstant(a)) std::swap(a, b);
  const Term x = terms_[a], y = terms_[b];
  if (a == b) return a;
  if (y.op == TermOp::kConstant) {
    if (y.value == 0) return b;
    if (x.high <= (y.value & ~(y.value + 1))) return a;  // within the run of ones at the low end
    if (std::has_single_bit(y.value + 1)) return reduceRemainder(a, y.value + 1);
    const std::uint64_t cleared = ~y.value & widthMask(x.width);
    if (std::has_single_bit(cleared + 1)) return subtract(a, bitAnd(a, constant(cleared, x.width)));
    if (x.op == TermOp::kAnd && isConstant(x.b)) return bitAnd(x.a, constant(terms_[x.b].value & y.value, x.width));
    // Multiples of a power of two above the mask do not show.
    const unsigned bits = static_cast<unsigned>(std::bit_width(y.value));
    if (bits < x.width && (x.op == TermOp::kAdd || x.op == TermOp::kMul)) {
      const TermId low = reduceRemainder(a, 1ull << bits);
      if (!terms_[low].has_symbols) return binary(TermOp::kAnd, low, b, x.width);
    }
  }
  if (a > b && !isConstant(b)) std::swap(a, b);
  return binary(TermOp::kAnd, a, b, x.width);
}

TermId Terms::bitOr(TermId a, TermId b) {
  if (isConstant(a)) std::swap(a, b);
  if (a == b || isConstant(b, 0)) return a;
  if (isConstant(b, widthMask(terms_[a].width))) return b;
  // Disjoint bits add up: a multiple of 2^k below which the other one stays.
  const Term x = terms_[a], y = terms_[b];
  const auto staysBelow = [&](const Term& term, TermId other) { return static_cast<unsigned>(std::bit_width(term.high)) <= zeroBits(*this, other); };
  if (x.width > 1 && (staysBelow(y, a) || staysBelow(x, b))) return add(a, b);
  if (a > b && !isConstant(b)) std::swap(a, b);
  return binary(TermOp::kOr, a, b, terms_[a].width);
}

TermId Terms::bitXor(TermId a, TermId b) {
  if (isConstant(a)) std::swap(a, b);
  const unsigned width = terms_[a].width;
  if (a == b) return constant(0, width);
  if (isConstant(b, 0)) return a;
  const Term x = terms_[a];
  if (isConstant(b) && x.op == TermOp::kXor && isConstant(x.b)) return bitXor(x.a, constant(terms_[x.b].value ^ terms_[b].value, width));
  if (a > b && !isConstant(b)) std::swap(a, b);
  return binary(TermOp::kXor, a, b, width);
}

TermId Terms::bitNot(TermId a) { return bitXor(a, constant(~0ull, terms_[a].width)); }

TermId Terms::choose(TermId condition, TermId then, TermId otherwise) {
  const Term c = terms_[condition], t = terms_[then], o = terms_[otherwise];
  if (c.op == TermOp::kConstant) return c.value != 0 ? then : otherwise;
  if (then == otherwise) return then;
  if (t.width == 1 && isConstant(then, 1) && isConstant(otherwise, 0)) return condition;
  if (t.width == 1 && isConstant(then, 0) && isConstant(otherwise, 1)) return bitNot(condition);
  if (!c.has_symbols && !t.has_symbols && !o.has_symbols) {
    LaneWords words;
    for (unsigned lane = 0; lane < kLanes; ++lane) words[lane] = evaluate(evaluate(condition, lane, {}) != 0 ? then : otherwise, lane, {});
    return lanes(words, t.width);
  }
  if (c.op == TermOp::kLaneConstant && o.op == TermOp::kChoose && terms_[o.a].op == TermOp::kLaneConstant) {
    const LaneWords &outer = laneWords(condition), &inner = laneWords(o.a);
    bool is_hidden = true;
    for (unsigned lane = 0; lane < kLanes; ++lane) is_hidden &= inner[lane] == 0 || outer[lane] != 0;
    if (is_hidden) return choose(condition, then, o.c);
  }
  return intern({.op = TermOp::kChoose, .width = t.width, .a = condition, .b = then, .c = otherwise});
}

TermId Terms::merge(std::uint32_t mask, TermId then, TermId otherwise) {
  LaneWords words;
  for (unsigned lane = 0; lane < kLanes; ++lane) words[lane] = (mask >> lane) & 1;
  return choose(lanes(words, 1), then, otherwise);
}

TermId Terms::resize(TermId a, unsigned width, bool is_signed) {
  const Term x = terms_[a];
  if (x.width == width) return a;
  if (x.op == TermOp::kChoose && isConstant(x.b) && isConstant(x.c)) {
    const TermId then = resize(x.b, width, is_signed), otherwise = resize(x.c, width, is_signed);
    return choose(x.a, then, otherwise);
  }
  if (x.width > width) {
    if (x.op == TermOp::kZeroExtend || x.op == TermOp::kSignExtend || x.op == TermOp::kTruncate) {
      // What is cut off again does not matter; only a shorter original keeps its own extension.
      if (terms_[x.a].width >= width || x.op == TermOp::kTruncate) return resize(x.a, width);
      return resize(x.a, width, x.op == TermOp::kSignExtend);
    }
    if (x.op == TermOp::kAdd || (x.op == TermOp::kMul && isConstant(x.b))) {
      const TermId left = resize(x.a, width), right = resize(x.b, width);
      return x.op == TermOp::kAdd ? add(left, right) : multiply(left, right);
    }
    if (x.op == TermOp::kUnsignedDiv && x.high <= widthMask(width) && terms_[x.a].op == TermOp::kZeroExtend && isConstant(x.b)) {
      const TermId narrow = terms_[x.a].a;
      const bool fits = terms_[narrow].width == width && terms_[x.b].value <= widthMask(width);
      if (fits) return divide(narrow, constant(terms_[x.b].value, width), /*is_signed=*/false);
    }
    if (!x.has_symbols) {
      LaneWords words;
      for (unsigned lane = 0; lane < kLanes; ++lane) words[lane] = evaluate(a, lane, {});
      return lanes(words, width);
    }
    return intern({.op = TermOp::kTruncate, .width = static_cast<std::uint8_t>(width), .a = a});
  }
  const bool is_plain = !is_signed || x.high < signBit(x.width);
  if (!x.has_symbols) {
    LaneWords words;
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      const std::uint64_t word = evaluate(a, lane, {});
      words[lane] = is_plain ? word : signExtended(word, x.width);
    }
    return lanes(words, width);
  }
  if (is_plain) {
    if (const TermId sum = extendSum(a, width); sum != kConcrete) return sum;
    if (x.op == TermOp::kZeroExtend) return resize(x.a, width);
  }
  return intern({.op = is_plain ? TermOp::kZeroExtend : TermOp::kSignExtend, .width = static_cast<std::uint8_t>(width), .a = a});
}

}  // namespace handoff::symbolic
