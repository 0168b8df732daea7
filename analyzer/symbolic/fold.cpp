// SPDX-License-Identifier: Apache-2.0
// Evaluation of terms.
#include "analyzer/symbolic/fold.h"

#include <algorithm>
#include <set>

#include "analyzer/symbolic/valuation.h"

namespace handoff::symbolic {

namespace {

using U128 = unsigned __int128;
using S128 = __int128;

std::uint64_t signedQuotient(std::uint64_t a, std::uint64_t b, unsigned width, bool is_remainder) {
  const auto x = static_cast<std::int64_t>(signExtended(a, width)), y = static_cast<std::int64_t>(signExtended(b, width));
  if (y == 0) return is_remainder ? a : ~0ull;
  if (y == -1) return is_remainder ? 0 : ~static_cast<std::uint64_t>(x) + 1;  // the least number overflows
  return static_cast<std::uint64_t>(is_remainder ? x % y : x / y);
}

}  // namespace

std::uint64_t fold(TermOp op, unsigned width, std::uint64_t a, std::uint64_t b) {
  const std::uint64_t mask = widthMask(width);
  const auto sa = static_cast<std::int64_t>(signExtended(a, width)), sb = static_cast<std::int64_t>(signExtended(b, width));
  switch (op) {
    case TermOp::kAdd: return (a + b) & mask;
    case TermOp::kMul: return (a * b) & mask;
    case TermOp::kMulHighUnsigned: return static_cast<std::uint64_t>((U128{a} * b) >> width) & mask;
    case TermOp::kMulHighSigned: return static_cast<std::uint64_t>((S128{sa} * sb) >> width) & mask;
    case TermOp::kUnsignedDiv: return b == 0 ? mask : a / b;
    case TermOp::kUnsignedRem: return b == 0 ? a : a % b;
    case TermOp::kSignedDiv: return signedQuotient(a, b, width, /*is_remainder=*/false) & mask;
    case TermOp::kSignedRem: return signedQuotient(a, b, width, /*is_remainder=*/true) & mask;
    case TermOp::kShl: return b >= width ? 0 : (a << b) & mask;
    case TermOp::kShrLogical: return b >= width ? 0 : a >> b;
    case TermOp::kShrArithmetic: return static_cast<std::uint64_t>(sa >> std::min<std::uint64_t>(b, width - 1)) & mask;
    case TermOp::kAnd: return a & b;
    case TermOp::kOr: return a | b;
    case TermOp::kXor: return a ^ b;
    case TermOp::kEqual: return a == b;
    case TermOp::kUnsignedLess: return a < b;
    case TermOp::kSignedLess: return sa < sb;
    default: return 0;
  }
}

std::uint64_t Valuation::operator()(TermId id) {
  const Term& term = terms_[id];
  switch (term.op) {
    case TermOp::kConstant: return term.value;
    case TermOp::kLaneConstant: return terms_.laneWords(id)[lane_];
    case TermOp::kSymbol: return word(term.value) & widthMask(term.width);
    default: break;
  }
  if (const auto it = known_.find(id); it != known_.end()) return it->second;
  std::uint64_t word = 0;
  switch (term.op) {
    case TermOp::kChoose: word = (*this)((*this)(term.a) != 0 ? term.b : term.c); break;
    case TermOp::kZeroExtend: word = (*this)(term.a); break;
    case TermOp::kTruncate: word = (*this)(term.a) & widthMask(term.width); break;
    case TermOp::kSignExtend: word = signExtended((*this)(term.a), terms_[term.a].width) & widthMask(term.width); break;
    default: word = fold(term.op, terms_[term.a].width, (*this)(term.a), (*this)(term.b));
  }
  known_.emplace(id, word);
  return word;
}

std::uint64_t Terms::evaluate(TermId id, unsigned lane, const Model& model) const { return Valuation(*this, model, lane)(id); }

/// Each part of the term once, itself among them.
template <typename F>
void Terms::forEachPart(TermId id, F&& visit) const {
  std::set<TermId> seen;
  std::vector<TermId> work{id};
  while (!work.empty()) {
    const TermId at = work.back();
    work.pop_back();
    if (at == kConcrete || !seen.insert(at).second) continue;
    const Term& term = terms_[at];
    visit(at, term);
    work.insert(work.end(), {term.a, term.b, term.c});
  }
}

const std::vector<TermId>& Terms::symbolsOf(TermId id) const {
  if (id < symbols_index_.size() && symbols_index_[id] != 0) return symbols_of_[symbols_index_[id] - 1];
  std::set<TermId> symbols;
  forEachPart(id, [&](TermId at, const Term& term) {
    if (term.op == TermOp::kSymbol) symbols.insert(at);
  });
  symbols_index_.resize(std::max<std::size_t>(symbols_index_.size(), terms_.size()), 0);
  symbols_of_.emplace_back(symbols.begin(), symbols.end());
  symbols_index_[id] = static_cast<std::uint32_t>(symbols_of_.size());
  return symbols_of_.back();
}

std::set<std::uint64_t> Terms::constantsOf(TermId id) const {
  std::set<std::uint64_t> constants;
  forEachPart(id, [&](TermId, const Term& term) {
    if (term.op == TermOp::kConstant) constants.insert(term.value);
  });
  return constants;
}

bool Terms::contains(TermId id, TermId symbol) const {
  const std::vector<TermId>& all = symbolsOf(id);
  return std::find(all.begin(), all.end(), symbol) != all.end();
}

std::string Terms::text(TermId id) const {
  const Term& term = terms_[id];
  static constexpr const char* kNames[] = {"", "", "", "+", "*", "mulhi", "mulhi.s", "/", "/.s", "%", "%.s", "<<", ">>", ">>.s", "&",
                                           "|", "^", "zext", "sext", "trunc", "==", "<", "<.s", "?"};
  const auto child = [&](TermId c) { return c == kConcrete ? std::string() : " " + text(c); };
  switch (term.op) {
    case TermOp::kSymbol: return symbols_[term.value].name;
    case TermOp::kConstant: return std::to_string(term.width == 1 ? static_cast<std::int64_t>(term.value) : static_cast<std::int64_t>(signExtended(term.value, term.width)));
    case TermOp::kLaneConstant: return "[" + std::to_string(lane_constants_[term.value][0]) + ",...]";
    default: return std::string("(") + kNames[static_cast<unsigned>(term.op)] + child(term.a) + child(term.b) + child(term.c) + ")";
  }
}

}  // namespace handoff::symbolic
