// SPDX-License-Identifier: Apache-2.0
// How large a term is where its own choices have been made: what is left of an input, cut to a copy's size, is no more
// than that, because the copy is only made where something is left.
#include <algorithm>

#include "analyzer/symbolic/fold.h"
#include "analyzer/symbolic/term.h"

namespace handoff::symbolic {

namespace {

constexpr std::size_t kMaxFacts = 16;

bool isLess(const Term& term) { return term.op == TermOp::kSignedLess || term.op == TermOp::kUnsignedLess; }

}  // namespace

bool Terms::contradicts(TermId condition, bool holds, const Facts& facts) const {
  const Term& term = terms_[condition];
  if (term.op == TermOp::kXor && isConstant(term.b)) return contradicts(term.a, holds != (terms_[term.b].value != 0), facts);
  return std::find(facts.begin(), facts.end(), Fact{condition, !holds}) != facts.end();
}

// Of a conjunction its parts; of a disjunction the part that is left when the other one is out.
void Terms::addFacts(TermId condition, bool holds, Facts& facts) const {
  const Term& term = terms_[condition];
  if (facts.size() >= kMaxFacts) return;
  if (term.op == TermOp::kXor && isConstant(term.b)) {
    addFacts(term.a, holds != (terms_[term.b].value != 0), facts);
  } else if (term.op == (holds ? TermOp::kAnd : TermOp::kOr)) {
    addFacts(term.a, holds, facts);
    addFacts(term.b, holds, facts);
  } else if (std::find(facts.begin(), facts.end(), Fact{condition, holds}) == facts.end()) {
    facts.emplace_back(condition, holds);
    for (std::size_t i = 0; i < facts.size(); ++i) {
      const auto [other, other_holds] = facts[i];
      const Term either = terms_[other];
      if (either.op != (other_holds ? TermOp::kOr : TermOp::kAnd) || either.width != 1) continue;
      for (const auto& [out, left] : {std::pair(either.a, either.b), std::pair(either.b, either.a)}) {
        if (contradicts(out, other_holds, facts)) addFacts(left, other_holds, facts);
      }
    }
  }
}

// No less than zero, as a number with sign.
bool Terms::isNatural(TermId id, const Facts& facts, unsigned depth) {
  const std::uint64_t sign = signBit(terms_[id].width);
  if (terms_[id].high < sign) return true;
  if (depth == 0) return false;
  return std::any_of(facts.begin(), facts.end(), [&](const Fact& fact) {
    const Term less = terms_[fact.first];
    if (!isLess(less) || terms_[less.a].width != terms_[id].width) return false;
    if (less.a == id && isConstant(less.b)) {
      const bool is_natural = terms_[less.b].value < sign;
      return is_natural && (fact.second ? less.op == TermOp::kUnsignedLess : less.op == TermOp::kSignedLess);
    }
    // smaller <= larger, and the term is their difference.
    const TermId smaller = fact.second ? less.a : less.b, larger = fact.second ? less.b : less.a;
    if (subtract(larger, smaller) != id) return false;
    return less.op == TermOp::kSignedLess ? isNatural(smaller, facts, depth - 1) : terms_[larger].high < sign;
  });
}

bool Terms::isAtMost(TermId id, std::uint64_t most, Facts& facts, bool is_natural) {
  const Term term = terms_[id];
  if (term.high <= most) return true;
  const auto sideIsAtMost = [&](TermId side, bool holds) {
    const std::size_t before = facts.size();
    addFacts(term.a, holds, facts);
    const bool is_at_most = isAtMost(side, most, facts, is_natural || isNatural(id, facts, 1));
    facts.resize(before);
    return is_at_most;
  };
  switch (term.op) {
    case TermOp::kChoose: return facts.size() < kMaxFacts && sideIsAtMost(term.b, true) && sideIsAtMost(term.c, false);
    case TermOp::kMul:
      return isConstant(term.b) && terms_[term.b].value != 0 && isAtMost(term.a, most / terms_[term.b].value, facts, false);
    case TermOp::kShl:
      return isConstant(term.b) && terms_[term.b].value < term.width && isAtMost(term.a, most >> terms_[term.b].value, facts, false);
    case TermOp::kZeroExtend:
    case TermOp::kTruncate: return isAtMost(term.a, most, facts, term.op == TermOp::kZeroExtend && is_natural);
    default: break;
  }
  return std::any_of(facts.begin(), facts.end(), [&](const Fact& fact) {
    const Term less = terms_[fact.first];
    if (!fact.second || !isLess(less) || less.a != id || !isConstant(less.b)) return false;
    const std::uint64_t limit = terms_[less.b].value;
    if (limit == 0 || limit >= signBit(term.width) || limit - 1 > most) return false;
    return less.op == TermOp::kUnsignedLess || is_natural || isNatural(id, facts, 2);
  });
}

bool Terms::isAtMost(TermId id, std::uint64_t most) {
  Facts facts;
  return isAtMost(id, most, facts, false);
}

}  // namespace handoff::symbolic
