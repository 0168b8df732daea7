// SPDX-License-Identifier: Apache-2.0
#include "analyzer/symbolic/intervals.h"

#include <algorithm>

#include "analyzer/symbolic/fold.h"

namespace handoff::symbolic {

namespace {

constexpr std::size_t kMaxPieces = 96;
/// A remainder has a piece for each time that it starts anew.
constexpr int kMaxWindows = 16;
/// So that a product with a word stays a number.
constexpr std::uint64_t kMaxDivisor = 1ull << 40;

}  // namespace

bool Intervals::contains(std::uint64_t word) const {
  return std::any_of(parts_.begin(), parts_.end(), [&](const Part& part) { return part.first <= word && word <= part.second; });
}

void Intervals::append(std::uint64_t low, std::uint64_t high) {
  if (low > high) return;
  if (!parts_.empty() && parts_.back().second + 1 == low) {
    parts_.back().second = high;
  } else {
    parts_.emplace_back(low, high);
  }
}

Intervals Intervals::intersectedWith(const Intervals& other) const {
  Intervals both;
  for (const Part& a : parts_) {
    for (const Part& b : other.parts_) both.append(std::max(a.first, b.first), std::min(a.second, b.second));
  }
  return both;
}

Intervals Intervals::complement(std::uint64_t low, std::uint64_t high) const {
  Intervals rest;
  for (const Part& part : parts_) {
    if (part.first > low) rest.append(low, std::min(part.first - 1, high));
    if (part.second >= high) return rest;
    low = std::max(low, part.second + 1);
  }
  rest.append(low, high);
  return rest;
}

SymbolSets::Wide SymbolSets::Piece::at(std::uint64_t x) const {
  const Wide sum = slope * static_cast<Wide>(x) + offset, by = divisor;
  return sum >= 0 ? sum / by : -((-sum + by - 1) / by);
}

/// The least x of the piece for which `holds`, which changes from false to true at most once; high + 1 if none.
template <typename Holds>
std::uint64_t SymbolSets::firstWhere(const Piece& piece, Holds&& holds) {
  std::uint64_t low = piece.low, high = piece.high + 1;
  while (low < high) {
    const std::uint64_t middle = low + (high - low) / 2;
    if (holds(middle)) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}

// Adds the piece modulo `modulus`.
bool SymbolSets::addWrapped(Piece piece, Wide modulus, Pieces& pieces) {
  const auto windowOf = [&](Wide value) { return value >= 0 ? value / modulus : -((-value + modulus - 1) / modulus); };
  for (int windows = 0; piece.low <= piece.high; ++windows) {
    if (windows >= kMaxWindows || pieces.size() >= kMaxPieces) return false;
    const Wide window = windowOf(piece.at(piece.low));
    const std::uint64_t next = firstWhere(piece, [&](std::uint64_t x) { return windowOf(piece.at(x)) != window; });
    Piece part = piece;
    part.high = next - 1;
    part.offset -= window * modulus * static_cast<Wide>(part.divisor);
    if (part.low == part.high) part = {part.low, part.high, 0, part.at(part.low), 1};
    pieces.push_back(part);
    if (next > piece.high) return true;
    piece.low = next;
  }
  return true;
}

std::optional<SymbolSets::Pieces> SymbolSets::wrapped(const Pieces& pieces, Wide modulus) {
  Pieces result;
  for (const Piece& piece : pieces) {
    if (!addWrapped(piece, modulus, result)) return std::nullopt;
  }
  return result;
}

// As numbers with sign.
std::optional<SymbolSets::Pieces> SymbolSets::withSign(const Pieces& pieces, unsigned width) {
  const Wide half = Wide{1} << (width - 1);
  Pieces moved = pieces;
  for (Piece& piece : moved) piece.offset += half * static_cast<Wide>(piece.divisor);
  auto result = wrapped(moved, 2 * half);
  if (!result) return std::nullopt;
  for (Piece& piece : *result) piece.offset -= half * static_cast<Wide>(piece.divisor);
  return result;
}

template <typename Combine>
std::optional<SymbolSets::Pieces> SymbolSets::zip(const Pieces& a, const Pieces& b, Combine&& combine) const {
  Pieces result;
  for (std::size_t i = 0, j = 0; i < a.size() && j < b.size();) {
    const std::uint64_t low = std::max(a[i].low, b[j].low), high = std::min(a[i].high, b[j].high);
    std::optional<Piece> one = combine(a[i], b[j]);
    if (!one || result.size() >= kMaxPieces) return std::nullopt;
    one->low = low;
    one->high = high;
    result.push_back(*one);
    if (a[i].high == high) ++i;
    if (b[j].high == high) ++j;
  }
  return result;
}

const std::optional<SymbolSets::Pieces>& SymbolSets::piecesOf(TermId id) {
  if (const auto it = pieces_.find(keyOf(id)); it != pieces_.end()) return it->second;
  std::optional<Pieces> found = findPieces(terms_[id]);
  return pieces_.emplace(keyOf(id), std::move(found)).first->second;
}

std::optional<SymbolSets::Pieces> SymbolSets::choose(const Term& term) {
  const auto& condition = of(term.a);
  if (!condition) return std::nullopt;
  const auto &then = piecesOf(term.b), &otherwise = piecesOf(term.c);
  if (!then || !otherwise) return std::nullopt;
  Pieces result;
  const auto addWithin = [&](const Pieces& pieces, const Intervals& where) {
    for (const Piece& piece : pieces) {
      for (const auto& [low, high] : where.parts()) {
        Piece part = piece;
        part.low = std::max(low, piece.low);
        part.high = std::min(high, piece.high);
        if (part.low <= part.high) result.push_back(part);
      }
    }
  };
  addWithin(*then, *condition);
  addWithin(*otherwise, condition->complement(low_, high_));
  if (result.size() > kMaxPieces) return std::nullopt;
  std::sort(result.begin(), result.end(), [](const Piece& x, const Piece& y) { return x.low < y.low; });
  return result;
}

std::optional<SymbolSets::Pieces> SymbolSets::findPieces(const Term& term) {
  const Wide modulus = Wide{1} << term.width;
  const auto product = [](Wide x, Wide y, Wide& result) { return !__builtin_mul_overflow(x, y, &result); };
  switch (term.op) {
    case TermOp::kConstant: return Pieces{{low_, high_, 0, static_cast<Wide>(term.value), 1}};
    case TermOp::kSymbol: return Pieces{{low_, high_, 1, 0, 1}};
    case TermOp::kChoose: return choose(term);
    default: break;
  }
  const auto& a = piecesOf(term.a);
  if (!a) return std::nullopt;
  switch (term.op) {
    case TermOp::kZeroExtend: return a;
    case TermOp::kTruncate: return wrapped(*a, modulus);
    case TermOp::kSignExtend:
      if (const auto numbers = withSign(*a, terms_[term.a].width)) return wrapped(*numbers, modulus);
      return std::nullopt;
    default: break;
  }
  const auto& b = piecesOf(term.b);
  if (!b) return std::nullopt;
  const bool is_constant = terms_[term.b].op == TermOp::kConstant;
  const std::uint64_t word = terms_[term.b].value;
  const auto divided = [&](std::uint64_t by) {
    return zip(*a, *b, [&](const Piece& x, const Piece&) -> std::optional<Piece> {
      Piece quotient = x;
      if (__builtin_mul_overflow(x.divisor, by, &quotient.divisor) || quotient.divisor > kMaxDivisor) return std::nullopt;
      return quotient;
    });
  };
  std::optional<Pieces> result;
  switch (term.op) {
    case TermOp::kAdd:
      result = zip(*a, *b, [](const Piece& x, const Piece& y) -> std::optional<Piece> {
        if (x.isConstant()) return Piece{0, 0, y.slope, y.offset + x.at(x.low) * static_cast<Wide>(y.divisor), y.divisor};
        if (y.isConstant()) return Piece{0, 0, x.slope, x.offset + y.at(y.low) * static_cast<Wide>(x.divisor), x.divisor};
        if (x.divisor != 1 || y.divisor != 1) return std::nullopt;
        return Piece{0, 0, x.slope + y.slope, x.offset + y.offset, 1};
      });
      return result ? wrapped(*result, modulus) : std::nullopt;
    case TermOp::kMul:
      if (!is_constant) return std::nullopt;
      result = zip(*a, *b, [&](const Piece& x, const Piece&) -> std::optional<Piece> {
        const auto factor = static_cast<std::int64_t>(signExtended(word, term.width));
        Piece times{0, 0, 0, 0, 1};
        if (x.isConstant()) {
          if (!product(x.at(x.low), factor, times.offset)) return std::nullopt;
        } else if (x.divisor != 1 || !product(x.slope, factor, times.slope) || !product(x.offset, factor, times.offset)) {
          return std::nullopt;
        }
        Wide most = 0;  // so that Piece::at stays within the numbers
        if (!product(times.slope, static_cast<Wide>(high_), most) || __builtin_add_overflow(most, times.offset, &most)) return std::nullopt;
        return times;
      });
      return result ? wrapped(*result, modulus) : std::nullopt;
    case TermOp::kUnsignedDiv: return is_constant && word != 0 ? divided(word) : std::nullopt;
    case TermOp::kShrLogical: return is_constant && word < term.width ? divided(std::uint64_t{1} << word) : std::nullopt;
    case TermOp::kUnsignedRem: return is_constant && word != 0 ? wrapped(*a, static_cast<Wide>(word)) : std::nullopt;
    case TermOp::kAnd: return is_constant && (word & (word + 1)) == 0 ? wrapped(*a, static_cast<Wide>(word) + 1) : std::nullopt;
    default: return std::nullopt;
  }
}

const std::optional<Intervals>& SymbolSets::of(TermId predicate) {
  if (const auto& symbols = terms_.symbolsOf(predicate); symbols.size() == 1) {
    symbol_ = symbols.front();
    low_ = terms_[symbol_].low;
    high_ = terms_[symbol_].high;
  }
  if (const auto it = sets_.find(keyOf(predicate)); it != sets_.end()) return it->second;
  std::optional<Intervals> found = high_ == ~0ull ? std::nullopt : findSet(terms_[predicate]);
  return sets_.emplace(keyOf(predicate), std::move(found)).first->second;
}

std::optional<Intervals> SymbolSets::findSet(const Term& term) {
  switch (term.op) {
    case TermOp::kConstant: return term.value != 0 ? domain() : Intervals();
    case TermOp::kEqual: case TermOp::kUnsignedLess: case TermOp::kSignedLess: return compare(term);
    case TermOp::kAnd: case TermOp::kOr: case TermOp::kXor: case TermOp::kChoose: break;
    default: return std::nullopt;
  }
  const auto not_ = [&](const Intervals& set) { return set.complement(low_, high_); };
  const auto& a = of(term.a);
  if (!a) return std::nullopt;
  const auto& b = of(term.b);
  if (!b) return std::nullopt;
  const auto either = [&](const Intervals& x, const Intervals& y) { return not_(not_(x).intersectedWith(not_(y))); };
  switch (term.op) {
    case TermOp::kAnd: return a->intersectedWith(*b);
    case TermOp::kOr: return either(*a, *b);
    case TermOp::kXor: return either(a->intersectedWith(not_(*b)), b->intersectedWith(not_(*a)));
    default: break;
  }
  const auto& c = of(term.c);
  if (!c) return std::nullopt;
  return either(a->intersectedWith(*b), c->intersectedWith(not_(*a)));
}

// By the sign of the difference, which is monotonic where one side is constant or no division is in it.
std::optional<Intervals> SymbolSets::compare(const Term& term) {
  if (terms_[term.a].width == 1) return std::nullopt;
  const auto &a = piecesOf(term.a), &b = piecesOf(term.b);
  if (!a || !b) return std::nullopt;
  const bool is_signed = term.op == TermOp::kSignedLess;
  const auto left = is_signed ? withSign(*a, terms_[term.a].width) : a, right = is_signed ? withSign(*b, terms_[term.b].width) : b;
  if (!left || !right) return std::nullopt;
  Intervals set;
  for (std::size_t i = 0, j = 0; i < left->size() && j < right->size();) {
    const Piece &x = (*left)[i], &y = (*right)[j];
    if (!x.isConstant() && !y.isConstant() && (x.divisor != 1 || y.divisor != 1)) return std::nullopt;
    const Piece both{std::max(x.low, y.low), std::min(x.high, y.high)};
    const auto difference = [&](std::uint64_t at) { return x.at(at) - y.at(at); };
    const bool rises = difference(both.low) <= difference(both.high);
    // Below zero, then zero, then above; or the other way round.
    const std::uint64_t zero = firstWhere(both, [&](std::uint64_t at) { return rises ? difference(at) >= 0 : difference(at) <= 0; });
    const std::uint64_t after = firstWhere(both, [&](std::uint64_t at) { return rises ? difference(at) > 0 : difference(at) < 0; });
    if (term.op == TermOp::kEqual) {
      if (zero < after) set.append(zero, after - 1);
    } else if (rises) {
      if (both.low < zero) set.append(both.low, zero - 1);
    } else {
      set.append(after, both.high);
    }
    if (x.high == both.high) ++i;
    if (y.high == both.high) ++j;
  }
  return set;
}

}  // namespace handoff::symbolic
