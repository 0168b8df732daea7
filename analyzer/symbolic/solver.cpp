// SPDX-License-Identifier: Apache-2.0
// Answers by evaluation where that is enough, else by Z3.
#include "analyzer/symbolic/solver.h"

#include <z3++.h>

#include <algorithm>

namespace handoff::symbolic {

struct Solver::Z3 {
  explicit Z3(unsigned milliseconds) : solver(z3::tactic(context, "qfbv").mk_solver()) {
    z3::params options(context);
    options.set("timeout", milliseconds);
    solver.set(options);
  }

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

constexpr std::size_t kMaxInputs = 24;    ///< kept
constexpr std::size_t kMaxOpen = 4;       ///< assumptions that a changed value may mend together
constexpr std::size_t kMaxVariants = 48;
constexpr std::size_t kMaxIntervals = 256;
constexpr std::size_t kMaxBox = 256;      ///< choices of values that are tried one by one

// Where the symbols have few values left, as the numbers of blocks have, all of them are tried: Z3 takes milliseconds to
// begin. Nothing where there are too many. kYes: the model has the values.
std::optional<Solver::Answer> askBox(const Terms& terms, const Solver::Assumptions& assumptions, const std::map<TermId, Intervals>& ranges,
                                     Model& model) {
  std::map<TermId, std::vector<std::uint64_t>> box;
  std::size_t choices = 1;
  for (const Solver::Assumption& assumption : assumptions) {
    for (const TermId id : terms.symbolsOf(assumption.predicate)) {
      if (box.contains(id)) continue;
      std::vector<std::uint64_t>& words = box[id];
      const auto range = ranges.find(id);
      const Intervals all(terms[id].low, terms[id].high);
      for (const auto& [low, high] : (range == ranges.end() ? all : range->second).parts()) {
        if (high - low >= kMaxBox - words.size()) return std::nullopt;
        for (std::uint64_t word = low;; ++word) {
          words.push_back(word);
          if (word == high) break;
        }
      }
      choices *= words.size();
      if (choices > kMaxBox) return std::nullopt;
    }
  }
  for (std::size_t choice = 0; choice < choices; ++choice) {
    std::size_t left = choice;
    for (const auto& [id, words] : box) {
      model[terms[id].value] = words[left % words.size()];
      left /= words.size();
    }
    Valuation values(terms, model);
    const auto holds = [&](const Solver::Assumption& a) { return (values(a.predicate) != 0) == a.holds; };
    if (std::all_of(assumptions.begin(), assumptions.end(), holds)) return Solver::Answer::kYes;
  }
  return Solver::Answer::kNo;
}

}  // namespace

Solver::Solver(Terms& terms, unsigned milliseconds) : terms_(terms), z3_(std::make_unique<Z3>(milliseconds)), sets_(terms) {}
Solver::~Solver() = default;

void Solver::push() { levels_.push_back(assumptions_.size()); }

void Solver::pop() {
  assumptions_.resize(levels_.back());
  levels_.pop_back();
}

void Solver::assume(TermId predicate, bool holds) { assumptions_.push_back({predicate, holds}); }

Solver::Assumptions Solver::unsatisfied(Valuation& values, std::size_t most) const {
  Assumptions open;
  // The youngest first: the others are likely to be satisfied.
  for (auto it = assumptions_.rbegin(); it != assumptions_.rend() && open.size() < most; ++it) {
    if (!isSatisfied(values, *it)) open.push_back(*it);
  }
  return open;
}

// Else `open` is what the nearest of them leaves unsatisfied.
bool Solver::tryKnownInputs(Assumptions& open, Model& nearest) {
  if (inputs_.empty()) keep({});
  std::size_t fewest = assumptions_.size() + 1;
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    Assumptions left = unsatisfied(inputs_[i], fewest);
    if (left.size() >= fewest) continue;
    fewest = left.size();
    open = std::move(left);
    nearest = inputs_[i].model();
    if (fewest == 0) return true;
  }
  return false;
}

// One symbol takes values near the constants that its assumption speaks of.
bool Solver::tryVariants(const Assumptions& open, const Model& nearest) {
  if (open.empty() || open.size() > kMaxOpen) return false;
  const std::set<std::uint64_t> constants = terms_.constantsOf(open.front().predicate);
  for (const TermId id : terms_.symbolsOf(open.front().predicate)) {
    const Term& symbol = terms_[id];
    Model model = nearest;
    for (std::size_t i = model.size(); i < terms_.symbols().size(); ++i) model.push_back(terms_.symbols()[i].low);
    const std::uint64_t present = model[symbol.value];
    std::set<std::uint64_t> candidates{symbol.low, symbol.low + 1, symbol.high, present + 1, present - 1, 2 * present};
    for (const std::uint64_t constant : constants) {
      candidates.insert({constant - 1, constant, constant + 1, present + constant, present - constant});
    }
    std::size_t tried = 0;
    for (const std::uint64_t word : candidates) {
      if (word < symbol.low || word > symbol.high || ++tried > kMaxVariants) continue;
      model[symbol.value] = word;
      Valuation values(terms_, model);
      if (!isSatisfied(values, open.front()) || !unsatisfied(values, 1).empty()) continue;
      keep(std::move(model));
      return true;
    }
  }
  return false;
}

// What has to do with the open assumptions: all that share symbols with them, directly or not.
Solver::Assumptions Solver::slice(const Assumptions& open) const {
  std::set<TermId> symbols;
  for (const Assumption& assumption : open) {
    const auto& own = terms_.symbolsOf(assumption.predicate);
    symbols.insert(own.begin(), own.end());
  }
  std::vector<bool> is_in(assumptions_.size(), false);
  std::set<Assumption> chosen(open.begin(), open.end());
  for (bool grows = true; grows;) {
    grows = false;
    for (std::size_t i = 0; i < assumptions_.size(); ++i) {
      if (is_in[i]) continue;
      const auto& own = terms_.symbolsOf(assumptions_[i].predicate);
      if (std::none_of(own.begin(), own.end(), [&](TermId s) { return symbols.contains(s); })) continue;
      is_in[i] = true;
      chosen.insert(assumptions_[i]);
      for (const TermId symbol : own) grows |= symbols.insert(symbol).second;
    }
  }
  return {chosen.begin(), chosen.end()};
}

void Solver::keep(Model model) {
  inputs_.emplace_front(terms_, std::move(model));
  if (inputs_.size() > kMaxInputs) inputs_.pop_back();
}

Solver::Answer Solver::isFeasible() {
  last_.reset();
  if (ThreadClock::now() >= deadline_) {
    was_cut_short_ = true;
    return Answer::kUnknown;
  }
  for (const Assumption& a : assumptions_) {
    if (terms_.isConstant(a.predicate) && (terms_[a.predicate].value != 0) != a.holds) return Answer::kNo;
  }
  Assumptions open;
  Model model;
  if (tryKnownInputs(open, model)) {
    last_ = std::move(model);
    return Answer::kYes;
  }
  if (tryVariants(open, model)) {
    last_ = inputs_.front().model();
    return Answer::kYes;
  }
  const Answer answer = ask(slice(open), model);
  if (answer != Answer::kYes) return answer;
  keep(model);
  last_ = std::move(model);
  return answer;
}

// Takes what is said of single symbols out of `assumptions`; nothing if it contradicts itself.
std::optional<Solver::Ranges> Solver::takeRanges(Assumptions& assumptions) {
  Ranges ranges;
  std::erase_if(assumptions, [&](const Assumption& assumption) {
    const auto& symbols = terms_.symbolsOf(assumption.predicate);
    if (symbols.size() != 1) return false;
    const std::optional<Intervals>& set = sets_.of(assumption.predicate);
    if (!set || set->parts().size() > kMaxIntervals) return false;
    const Term& symbol = terms_[symbols.front()];
    Intervals& range = ranges.try_emplace(symbols.front(), symbol.low, symbol.high).first->second;
    range = range.intersectedWith(assumption.holds ? *set : set->complement(symbol.low, symbol.high));
    return true;
  });
  for (const auto& [symbol, range] : ranges) {
    if (range.isEmpty()) return std::nullopt;
  }
  return ranges;
}

// In one form, whatever the conditions were that led to it.
void Solver::addRanges(const Ranges& ranges, Assumptions& assumptions) {
  for (const auto& [id, range] : ranges) {
    const Term symbol = terms_[id];
    const auto below = [&, symbol = id](std::uint64_t word) { return terms_.less(symbol, terms_.constant(word, terms_[symbol].width), false); };
    std::uint64_t next = symbol.low;  // the first that nothing has been said about
    for (const auto& [low, high] : range.parts()) {
      if (low > next) assumptions.push_back({terms_.bitAnd(terms_.bitNot(below(next)), below(low)), false});
      next = high + 1;
    }
    if (next <= symbol.high) assumptions.push_back({below(next), true});
  }
}

Solver::Assumptions Solver::shortened(Assumptions assumptions) {
  Assumptions rest = assumptions;
  const std::optional<Ranges> ranges = takeRanges(rest);
  if (!ranges) return assumptions;
  addRanges(*ranges, rest);
  return rest;
}

// kYes: their symbols in `model` get values that satisfy them.
Solver::Answer Solver::ask(Assumptions assumptions, Model& model) {
  for (std::size_t i = model.size(); i < terms_.symbols().size(); ++i) model.push_back(terms_.symbols()[i].low);
  const std::optional<Ranges> ranges = takeRanges(assumptions);
  if (!ranges) return Answer::kNo;
  for (const auto& [symbol, range] : *ranges) {
    std::uint64_t& word = model[terms_[symbol].value];
    if (!range.contains(word)) word = range.parts().front().first;
  }
  if (assumptions.empty()) return Answer::kYes;
  if (const std::optional<Answer> answer = askBox(terms_, assumptions, *ranges, model)) return *answer;
  addRanges(*ranges, assumptions);
  if (refuted_.contains(assumptions)) return Answer::kNo;
  z3_->solver.reset();
  Translation translate(terms_, z3_->context, z3_->known);
  std::set<TermId> symbols;
  for (const Assumption& assumption : assumptions) {
    const auto& own = terms_.symbolsOf(assumption.predicate);
    symbols.insert(own.begin(), own.end());
    z3_->solver.add(translate(assumption.predicate) == z3_->context.bv_val(assumption.holds ? 1 : 0, 1));
  }
  for (const TermId symbol : symbols) {
    const Term& term = terms_[symbol];
    const z3::expr expr = translate(symbol);
    if (term.low != 0) z3_->solver.add(z3::uge(expr, z3_->context.bv_val(term.low, term.width)));
    if (term.high != widthMask(term.width)) z3_->solver.add(z3::ule(expr, z3_->context.bv_val(term.high, term.width)));
  }
  z3::check_result result = z3::unknown;
  try {
    result = z3_->solver.check();
  } catch (const z3::exception&) {
    // Out of time or memory in a place where Z3 cannot say "unknown".
  }
  if (result == z3::unsat) refuted_.insert(assumptions);
  was_cut_short_ |= result == z3::unknown;  // bit-vectors are decidable: Z3 gives up for lack of time only
  if (result != z3::sat) return result == z3::unsat ? Answer::kNo : Answer::kUnknown;
  const z3::model found = z3_->solver.get_model();
  for (const TermId symbol : symbols) {
    const z3::expr value = found.eval(translate(symbol), /*model_completion=*/false);
    model[terms_[symbol].value] = value.is_numeral() ? value.get_numeral_uint64() : terms_[symbol].low;
  }
  return Answer::kYes;
}

Model Solver::model() const {
  Model model;
  for (const Symbol& symbol : terms_.symbols()) model.push_back(symbol.low);
  if (!last_) return model;
  for (const Assumption& assumption : assumptions_) {
    for (const TermId symbol : terms_.symbolsOf(assumption.predicate)) {
      const std::size_t index = terms_[symbol].value;
      if (index < last_->size()) model[index] = (*last_)[index];
    }
  }
  return model;
}

Solver::Answer Solver::follows(TermId predicate, bool holds) {
  if (terms_.isConstant(predicate)) return (terms_[predicate].value != 0) == holds ? Answer::kYes : Answer::kNo;
  const Scope refuted(*this);
  assume(predicate, !holds);
  const Answer answer = isFeasible();
  return answer == Answer::kNo ? Answer::kYes : answer == Answer::kYes ? Answer::kNo : Answer::kUnknown;
}

}  // namespace handoff::symbolic
