// SPDX-License-Identifier: Apache-2.0
// Translation to Z3.
#include "analyzer/symbolic/solver.h"

#include <z3++.h>

#include <algorithm>
#include <vector>

namespace handoff::symbolic {

struct Solver::Z3 {
  explicit Z3(unsigned milliseconds) : solver(z3::tactic(context, "qfbv").mk_solver()), is_bounded_at{{}} {
    z3::params options(context);
    options.set("timeout", milliseconds);
    solver.set(options);
  }

  z3::context context;
  z3::solver solver;
  std::unordered_map<TermId, z3::expr> known;
  std::vector<std::vector<TermId>> is_bounded_at;  ///< by level: symbols whose bounds were assumed there
  std::optional<z3::model> last;
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

Solver::Solver(Terms& terms, unsigned milliseconds) : terms_(terms), z3_(std::make_unique<Z3>(milliseconds)) {}
Solver::~Solver() = default;

void Solver::push() {
  z3_->solver.push();
  z3_->is_bounded_at.emplace_back();
}

void Solver::pop() {
  z3_->solver.pop();
  z3_->is_bounded_at.pop_back();
}

void Solver::assume(TermId predicate, bool holds) {
  Translation translate(terms_, z3_->context, z3_->known);
  for (const TermId symbol : terms_.symbolsOf(predicate)) {
    bool is_bounded = false;
    for (const auto& level : z3_->is_bounded_at) is_bounded |= std::find(level.begin(), level.end(), symbol) != level.end();
    if (is_bounded) continue;
    z3_->is_bounded_at.back().push_back(symbol);
    const Term& term = terms_[symbol];
    const z3::expr expr = translate(symbol);
    if (term.low != 0) z3_->solver.add(z3::uge(expr, z3_->context.bv_val(term.low, term.width)));
    if (term.high != widthMask(term.width)) z3_->solver.add(z3::ule(expr, z3_->context.bv_val(term.high, term.width)));
  }
  z3_->solver.add(translate(predicate) == z3_->context.bv_val(holds ? 1 : 0, 1));
}

Solver::Answer Solver::isFeasible() {
  z3_->last.reset();
  if (std::chrono::steady_clock::now() >= deadline_) return Answer::kUnknown;
  z3::check_result result = z3::unknown;
  try {
    result = z3_->solver.check();
  } catch (const z3::exception&) {
    // Out of time or memory in a place where Z3 cannot say "unknown".
  }
  if (result == z3::unsat) return Answer::kNo;
  if (result == z3::unknown) return Answer::kUnknown;
  z3_->last = z3_->solver.get_model();
  return Answer::kYes;
}

Model Solver::model() const {
  Model model;
  for (std::size_t i = 0; i < terms_.symbols().size(); ++i) {
    const Symbol& symbol = terms_.symbols()[i];
    std::uint64_t word = symbol.low;
    if (z3_->last) {
      const z3::expr expr = z3_->context.bv_const(("s" + std::to_string(i)).c_str(), symbol.width);
      const z3::expr value = z3_->last->eval(expr, /*model_completion=*/false);
      if (value.is_numeral()) word = value.get_numeral_uint64();
    }
    model.push_back(word);
  }
  return model;
}

Solver::Answer Solver::follows(TermId predicate, bool holds) {
  if (terms_.isConstant(predicate)) return (terms_[predicate].value != 0) == holds ? Answer::kYes : Answer::kNo;
  push();
  assume(predicate, !holds);
  const Answer refuted = isFeasible();
  pop();
  return refuted == Answer::kNo ? Answer::kYes : refuted == Answer::kYes ? Answer::kNo : Answer::kUnknown;
}

}  // namespace handoff::symbolic
