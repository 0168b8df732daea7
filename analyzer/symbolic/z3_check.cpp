// SPDX-License-Identifier: Apache-2.0
#include "analyzer/symbolic/z3_check.h"

#include <z3++.h>

#include <set>
#include <string>
#include <unordered_map>

namespace handoff::symbolic {

struct Z3Check::State {
  State() : solver(z3::tactic(context, "qfbv").mk_solver()) {}

  z3::context context;
  z3::solver solver;
  std::unordered_map<TermId, z3::expr> known;
};

namespace {

class Translation {
 public:
  Translation(const Terms& terms, z3::context& context, std::unordered_map<TermId, z3::expr>& known)
      : terms_(terms), context_(context), known_(known) {}

  z3::expr operator()(TermId id) {
    if (const auto it = known_.find(id); it != known_.end()) return it->second;
    z3::expr expr = build(terms_[id]);
    known_.emplace(id, expr);
    return expr;
  }

 private:
  z3::expr value(std::uint64_t word, unsigned width) { return context_.bv_val(word, width); }
  z3::expr bit(const z3::expr& condition) { return z3::ite(condition, value(1, 1), value(0, 1)); }

  z3::expr high(const z3::expr& a, const z3::expr& b, unsigned width, bool is_signed) {
    const auto wide = [&](const z3::expr& x) { return is_signed ? z3::sext(x, width) : z3::zext(x, width); };
    return (wide(a) * wide(b)).extract(2 * width - 1, width);
  }

  z3::expr build(const Term& term) {
    switch (term.op) {
      case TermOp::kSymbol: return context_.bv_const(("s" + std::to_string(term.value)).c_str(), term.width);
      case TermOp::kConstant: return value(term.value, term.width);
      case TermOp::kLaneConstant: return value(0, term.width);  // excluded by the contract
      default: break;
    }
    const z3::expr a = (*this)(term.a);
    const unsigned from = terms_[term.a].width;
    switch (term.op) {
      case TermOp::kZeroExtend: return z3::zext(a, term.width - from);
      case TermOp::kSignExtend: return z3::sext(a, term.width - from);
      case TermOp::kTruncate: return a.extract(term.width - 1, 0);
      default: break;
    }
    const z3::expr b = (*this)(term.b);
    switch (term.op) {
      case TermOp::kAdd: return a + b;
      case TermOp::kMul: return a * b;
      case TermOp::kMulHighUnsigned: return high(a, b, term.width, false);
      case TermOp::kMulHighSigned: return high(a, b, term.width, true);
      case TermOp::kUnsignedDiv: return z3::udiv(a, b);
      case TermOp::kSignedDiv: return a / b;
      case TermOp::kUnsignedRem: return z3::urem(a, b);
      case TermOp::kSignedRem: return z3::srem(a, b);
      case TermOp::kShl: return z3::shl(a, b);
      case TermOp::kShrLogical: return z3::lshr(a, b);
      case TermOp::kShrArithmetic: return z3::ashr(a, b);
      case TermOp::kAnd: return a & b;
      case TermOp::kOr: return a | b;
      case TermOp::kXor: return a ^ b;
      case TermOp::kEqual: return bit(a == b);
      case TermOp::kUnsignedLess: return bit(z3::ult(a, b));
      case TermOp::kSignedLess: return bit(a < b);
      default: return z3::ite(a == value(1, 1), b, (*this)(term.c));
    }
  }

  const Terms& terms_;
  z3::context& context_;
  std::unordered_map<TermId, z3::expr>& known_;
};

}  // namespace

Z3Check::Z3Check(const Terms& terms) : terms_(terms), state_(std::make_unique<State>()) {}
Z3Check::~Z3Check() = default;

Answer Z3Check::operator()(const Assumptions& assumptions, const Ranges& ranges, Model& model, unsigned milliseconds) {
  z3::context& context = state_->context;
  z3::solver& solver = state_->solver;
  solver.reset();
  z3::params options(context);
  options.set("timeout", milliseconds);
  solver.set(options);
  Translation translate(terms_, context, state_->known);
  std::set<TermId> symbols;
  for (const Assumption& assumption : assumptions) {
    const auto& own = terms_.symbolsOf(assumption.predicate);
    symbols.insert(own.begin(), own.end());
    solver.add(translate(assumption.predicate) == context.bv_val(assumption.holds ? 1 : 0, 1));
  }
  for (const auto& [symbol, range] : ranges) symbols.insert(symbol);
  for (const TermId symbol : symbols) {
    const Term& term = terms_[symbol];
    const z3::expr word = translate(symbol);
    const auto number = [&](std::uint64_t value) { return context.bv_val(value, term.width); };
    const auto range = ranges.find(symbol);
    const Intervals all(term.low, term.high);
    z3::expr_vector parts(context);
    for (const auto& [low, high] : (range == ranges.end() ? all : range->second).parts()) {
      parts.push_back(z3::uge(word, number(low)) && z3::ule(word, number(high)));
    }
    solver.add(z3::mk_or(parts));
  }
  z3::check_result result = z3::unknown;
  try {
    result = solver.check();
  } catch (const z3::exception&) {
    // Out of time or memory in a place where Z3 cannot say "unknown".
  }
  if (result != z3::sat) return result == z3::unsat ? Answer::kNo : Answer::kUnknown;
  const z3::model found = solver.get_model();
  for (const TermId symbol : symbols) {
    const z3::expr value = found.eval(translate(symbol), /*model_completion=*/false);
    model[terms_[symbol].value] = value.is_numeral() ? value.get_numeral_uint64() : terms_[symbol].low;
  }
  return Answer::kYes;
}

}  // namespace handoff::symbolic
