// SPDX-License-Identifier: Apache-2.0
// Symbols for unknown data, and questions about them.
#include "analyzer/machine/data_terms.h"
#include "analyzer/support/thread_clock.h"

#include <algorithm>
#include <bit>

namespace handoff::machine {

using symbolic::kConcrete;
using symbolic::Term;
using symbolic::TermId;
using symbolic::TermOp;
using symbolic::Terms;

namespace {

/// Data that one run follows; what comes after is unknown without a term.
constexpr std::size_t kMaxData = 400'000;
/// Nodes of a term, counted as a tree: hashes over many words are no longer asked about.
constexpr std::uint32_t kMaxWeight = 3'000;
/// For each question, and for all of a kernel.
constexpr unsigned kMilliseconds = 400;
constexpr double kMaxSeconds = 20;

constexpr std::uint64_t mixed(std::uint64_t hash, std::uint64_t word) {
  hash = (hash ^ word) * 0x9e3779b97f4a7c15ull;
  hash ^= hash >> 29;
  hash *= 0xbf58476d1ce4e5b9ull;
  return hash ^ (hash >> 32);
}

}  // namespace

TermId DataTerms::fresh(unsigned width, std::uint32_t instr) {
  if (origins_.size() >= kMaxData) return kConcrete;
  const TermId symbol = terms_.symbol("data", width, 0, symbolic::widthMask(width));
  origins_.push_back({instr, false, 0});
  return symbol;
}

std::uint32_t DataTerms::weightOf(TermId id) {
  if (id == kConcrete) return 0;
  if (weights_.size() <= id) weights_.resize(std::size_t{id} + 1 + id / 2, 0);
  if (weights_[id] != 0) return weights_[id];
  const Term term = terms_[id];
  const bool is_leaf = term.op == TermOp::kSymbol || term.op == TermOp::kConstant || term.op == TermOp::kLaneConstant;
  std::uint32_t weight = 1;
  if (!is_leaf) weight += weightOf(term.a) + weightOf(term.b) + weightOf(term.c);
  weights_[id] = std::min(weight, kMaxWeight + 1);
  return weights_[id];
}

TermId DataTerms::orFresh(TermId term, std::uint32_t instr) {
  if (term == kConcrete || weightOf(term) <= kMaxWeight) return term;
  return fresh(terms_[term].width, instr);
}

TermId DataTerms::import(const Terms& from, TermId id, const std::function<std::uint64_t(TermId)>& present) {
  for (const TermId symbol : from.symbolsOf(id)) {
    if (imported_.contains(symbol)) continue;
    const symbolic::Symbol& input = from.symbols()[from[symbol].value];
    imported_.emplace(symbol, terms_.symbol(input.name, input.width, input.low, input.high));
    origins_.push_back({0, true, present(symbol)});
  }
  return terms_.copy(from, id, imported_);
}

std::uint64_t ShapeHasher::operator()(TermId id) {
  if (id == kConcrete) return 1;
  if (const auto known = known_.find(id); known != known_.end()) return known->second;
  const Term term = data_.terms()[id];
  std::uint64_t hash = mixed(static_cast<std::uint64_t>(term.op), term.width);
  switch (term.op) {
    case TermOp::kConstant: hash = mixed(hash, term.value); break;
    case TermOp::kLaneConstant:
      for (const std::uint64_t word : data_.terms().laneWords(id)) hash = mixed(hash, word);
      break;
    case TermOp::kSymbol: {
      const symbolic::Symbol& symbol = data_.terms().symbols()[term.value];
      hash = data_.originOf(id).is_input ? mixed(hash, std::hash<std::string>{}(symbol.name)) : mixed(hash, ++symbols_);
      break;
    }
    default:
      hash = mixed(hash, (*this)(term.a));
      hash = mixed(hash, (*this)(term.b));
      hash = mixed(hash, (*this)(term.c));
  }
  known_.emplace(id, hash);
  return hash;
}

// --- bounds ---

namespace {

/// The low bits of a value that are the same for all data.
struct LowBits { unsigned count = 0; std::uint64_t bits = 0; };

LowBits lowBits(const Terms& terms, TermId id, unsigned depth = 0) {
  constexpr unsigned kMaxDepth = 64;
  const Term& term = terms[id];
  const auto of = [&](TermId child) { return depth > kMaxDepth ? LowBits{} : lowBits(terms, child, depth + 1); };
  const auto common = [](LowBits a, LowBits b) { return std::min(a.count, b.count); };
  switch (term.op) {
    case TermOp::kConstant: return {term.width, term.value};
    case TermOp::kAdd: {
      const LowBits a = of(term.a), b = of(term.b);
      return {common(a, b), a.bits + b.bits};
    }
    case TermOp::kMul: {
      const LowBits a = of(term.a), b = of(term.b);
      const bool is_constant = terms.isConstant(term.b) && terms[term.b].value != 0;
      const unsigned zeros = is_constant ? static_cast<unsigned>(std::countr_zero(terms[term.b].value)) : 0;
      return {std::min<unsigned>(term.width, is_constant ? a.count + zeros : common(a, b)), a.bits * b.bits};
    }
    case TermOp::kAnd: {
      const LowBits a = of(term.a), b = of(term.b);
      unsigned count = common(a, b);
      // Zeros of a mask are known whatever they meet.
      while (count < term.width) {
        const bool is_zero = (count < a.count && (a.bits >> count & 1) == 0) || (count < b.count && (b.bits >> count & 1) == 0);
        if (!is_zero) break;
        ++count;
      }
      // Beyond what one side knows its bits count as zeros here.
      const auto known = [](LowBits x) { return x.bits & symbolic::widthMask(x.count); };
      return {count, known(a) & known(b)};
    }
    case TermOp::kOr: {
      const LowBits a = of(term.a), b = of(term.b);
      return {common(a, b), a.bits | b.bits};
    }
    case TermOp::kXor: {
      const LowBits a = of(term.a), b = of(term.b);
      return {common(a, b), a.bits ^ b.bits};
    }
    case TermOp::kZeroExtend:
    case TermOp::kSignExtend: return of(term.a);
    case TermOp::kTruncate: {
      const LowBits a = of(term.a);
      return {std::min<unsigned>(a.count, term.width), a.bits};
    }
    case TermOp::kChoose: {
      const LowBits a = of(term.b), b = of(term.c);
      const unsigned equal = static_cast<unsigned>(std::countr_zero(a.bits ^ b.bits));
      return {std::min(common(a, b), equal), a.bits};
    }
    default: return {};
  }
}

}  // namespace

Span spanOf(const Terms& terms, TermId address) {
  const LowBits low = lowBits(terms, address);
  const unsigned count = std::min(low.count, 63u);
  return {terms[address].low, terms[address].high, count, low.bits & symbolic::widthMask(count)};
}

bool Span::mayMeet(std::uint64_t bytes, std::uint64_t address, std::uint64_t size) const {
  const std::uint64_t first = std::max(low, address >= bytes - 1 ? address - (bytes - 1) : 0);
  const std::uint64_t last = std::min(high, address + size - 1);
  if (first > last) return false;
  const std::uint64_t step = std::uint64_t{1} << known_bits;
  const std::uint64_t up = (residue - first) & (step - 1);
  return up <= last - first;
}

// --- questions ---

/// Terms of a question in the store of all questions, with symbols numbered as they occur.
struct DataQuestions::Copy {
  Terms::Substitution known;
  std::vector<std::pair<TermId, TermId>> symbols;  ///< in the run, here
};

DataQuestions::DataQuestions() = default;
DataQuestions::~DataQuestions() = default;

TermId DataQuestions::symbolFor(const symbolic::Symbol& symbol, bool is_input, std::size_t number) {
  const std::string name = is_input ? "input " + symbol.name : "data " + std::to_string(number);
  const auto [it, is_new] = symbols_.try_emplace({name, symbol.width, symbol.low, symbol.high}, kConcrete);
  if (is_new) it->second = terms_.symbol(name, symbol.width, symbol.low, symbol.high);
  return it->second;
}

bool DataQuestions::wasCutShort() const {
  return seconds_ >= kMaxSeconds || (solver_ != nullptr && solver_->wasCutShort());
}

DataQuestions::Known DataQuestions::solve(TermId predicate) {
  if (terms_.isConstant(predicate, 0)) return {Answer::kNo, {}};
  if (const auto known = known_.find(predicate); known != known_.end()) return known->second;
  Known found;
  if (seconds_ < kMaxSeconds) {
    const auto start = ThreadClock::now();
    if (!solver_) solver_ = std::make_unique<symbolic::Solver>(terms_, kMilliseconds);
    const symbolic::Solver::Scope scope(*solver_);
    solver_->assume(predicate);
    found.answer = solver_->isFeasible();
    if (found.answer == Answer::kYes) found.model = solver_->model();
    seconds_ += std::chrono::duration<double>(ThreadClock::now() - start).count();
  }
  known_.emplace(predicate, found);
  return found;
}

DataQuestions::Found DataQuestions::ask(DataTerms& data, TermId predicate, TermId address, const Copy& copy) {
  Found found;
  Known known = solve(predicate);
  found.answer = known.answer;
  if (found.answer != Answer::kYes) return found;
  // A witness has the inputs of the run.
  TermId at_present = predicate;
  for (const auto& [symbol, here] : copy.symbols) {
    const DataTerms::Origin& origin = data.originOf(symbol);
    if (origin.is_input) at_present = terms_.bitAnd(at_present, terms_.equal(here, terms_.constant(origin.present, terms_[here].width)));
  }
  if (at_present != predicate) known = solve(at_present);
  if (known.answer != Answer::kYes) {
    found.answer = Answer::kUnknown;
    found.needs_other_inputs = known.answer == Answer::kNo;
    return found;
  }
  known.model.resize(terms_.symbols().size(), 0);
  found.address = terms_.evaluate(address, 0, known.model);
  for (const auto& [symbol, here] : copy.symbols) {
    if (!data.originOf(symbol).is_input) found.values.emplace_back(symbol, known.model[terms_[here].value]);
  }
  return found;
}

namespace {

/// Brings the terms of one lane into another store; symbols of data become new ones for each of them.
template <typename SymbolFor, typename Note>
TermId bring(Terms& terms, DataTerms& data, TermId id, unsigned lane, Terms::Substitution& known, SymbolFor&& symbolFor, Note&& note) {
  const TermId of_lane = data.terms().ofLane(id, lane);
  for (const TermId symbol : data.terms().symbolsOf(of_lane)) {
    if (known.contains(symbol)) continue;
    const TermId here = symbolFor(data.terms().symbols()[data.terms()[symbol].value], data.originOf(symbol).is_input);
    known.emplace(symbol, here);
    note(symbol, here);
  }
  return terms.copy(data.terms(), of_lane, known);
}

}  // namespace

DataQuestions::Found DataQuestions::meets(DataTerms& data, const Question& access, const std::vector<StartRange>& starts) {
  if (access.address == kConcrete) return {};
  Copy copy;
  const auto symbol = [&](const symbolic::Symbol& s, bool is_input) { return symbolFor(s, is_input, copy.symbols.size()); };
  const auto note = [&](TermId from, TermId here) { copy.symbols.emplace_back(from, here); };
  const TermId address = bring(terms_, data, access.address, access.lane, copy.known, symbol, note);
  const unsigned width = terms_[address].width;
  TermId any = terms_.constant(0, 1);
  for (const StartRange& range : starts) {
    const TermId above = terms_.bitNot(terms_.less(address, terms_.constant(range.first, width), false));
    const TermId below = terms_.bitNot(terms_.less(terms_.constant(range.last, width), address, false));
    any = terms_.bitOr(any, terms_.bitAnd(above, below));
  }
  if (access.condition != kConcrete) {
    any = terms_.bitAnd(any, bring(terms_, data, access.condition, access.lane, copy.known, symbol, note));
  }
  return ask(data, any, address, copy);
}

StartRange DataQuestions::bounds(DataTerms& data, TermId term, TermId condition) {
  Copy copy;
  const auto symbol = [&](const symbolic::Symbol& s, bool is_input) { return symbolFor(s, is_input, copy.symbols.size()); };
  const auto note = [&](TermId from, TermId here) { copy.symbols.emplace_back(from, here); };
  const TermId value = bring(terms_, data, term, 0, copy.known, symbol, note);
  const TermId holds = bring(terms_, data, condition, 0, copy.known, symbol, note);
  const unsigned width = terms_[value].width;
  const auto [it, is_new] = bounds_.try_emplace({value, holds}, StartRange{terms_[value].low, terms_[value].high});
  StartRange& range = it->second;
  if (!is_new) return range;
  Known seen = solve(holds);
  if (seen.answer != Answer::kYes) return range;
  const auto valueIn = [&](Known& known) {
    known.model.resize(terms_.symbols().size(), 0);
    return terms_.evaluate(value, 0, known.model);
  };
  // Values that occur move the one end, answers "no" the other.
  std::uint64_t least = valueIn(seen), most = least;
  while (most < range.last) {
    const std::uint64_t middle = most + (range.last - most + 1) / 2;
    Known above = solve(terms_.bitAnd(holds, terms_.bitNot(terms_.less(value, terms_.constant(middle, width), false))));
    if (above.answer == Answer::kUnknown) break;
    if (above.answer == Answer::kYes) most = valueIn(above);
    if (above.answer == Answer::kNo) range.last = middle - 1;
  }
  while (range.first < least) {
    const std::uint64_t middle = range.first + (least - range.first) / 2;
    Known below = solve(terms_.bitAnd(holds, terms_.bitNot(terms_.less(terms_.constant(middle, width), value, false))));
    if (below.answer == Answer::kUnknown) break;
    if (below.answer == Answer::kYes) least = valueIn(below);
    if (below.answer == Answer::kNo) range.first = middle + 1;
  }
  return range;
}

DataQuestions::Found DataQuestions::overlap(DataTerms& data, const Question& a, std::uint64_t a_bytes, const Question& b,
                                            std::uint64_t b_bytes, std::uint64_t low, std::uint64_t high) {
  if (a.address == kConcrete || b.address == kConcrete) return {};
  Copy copy;
  Terms::Substitution other;  // the data of another thread are other data
  std::size_t number = 0;
  const auto symbol = [&](const symbolic::Symbol& s, bool is_input) { return symbolFor(s, is_input, number++); };
  const auto note = [&](TermId from, TermId here) { copy.symbols.emplace_back(from, here); };
  const auto noteInput = [&](TermId from, TermId here) {
    if (data.originOf(from).is_input) copy.symbols.emplace_back(from, here);
  };
  const TermId x = bring(terms_, data, a.address, a.lane, copy.known, symbol, note);
  const TermId y = bring(terms_, data, b.address, b.lane, other, symbol, noteInput);
  TermId all = terms_.constant(1, 1);
  if (a.condition != kConcrete) all = terms_.bitAnd(all, bring(terms_, data, a.condition, a.lane, copy.known, symbol, note));
  if (b.condition != kConcrete) all = terms_.bitAnd(all, bring(terms_, data, b.condition, b.lane, other, symbol, noteInput));
  const auto within = [&](TermId at) {
    const unsigned width = terms_[at].width;
    const TermId above = terms_.bitNot(terms_.less(at, terms_.constant(low, width), false));
    return terms_.bitAnd(above, terms_.less(at, terms_.constant(high, width), false));
  };
  const TermId xx = terms_.resize(x, 64), yy = terms_.resize(y, 64);
  all = terms_.bitAnd(all, terms_.bitAnd(within(x), within(y)));
  all = terms_.bitAnd(all, terms_.less(xx, terms_.add(yy, terms_.constant(b_bytes, 64)), false));
  all = terms_.bitAnd(all, terms_.less(yy, terms_.add(xx, terms_.constant(a_bytes, 64)), false));
  return ask(data, all, x, copy);
}

}  // namespace handoff::machine
