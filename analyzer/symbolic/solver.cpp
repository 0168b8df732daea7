// SPDX-License-Identifier: Apache-2.0
// Assumptions, and the questions that an evaluation answers; solver_search.cpp answers the others.
#include "analyzer/symbolic/solver.h"

#include <algorithm>
#include <chrono>
#include <set>

namespace handoff::symbolic {

namespace {

constexpr std::size_t kMaxInputs = 24;    ///< kept
constexpr std::size_t kMaxOpen = 4;       ///< assumptions that a changed value may mend together
constexpr std::size_t kMaxVariants = 48;

}  // namespace

Solver::Solver(Terms& terms, unsigned milliseconds) : terms_(terms), check_(terms), sets_(terms), refutations_(terms), time_(milliseconds) {}

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
  if (inputs_.empty()) keep(Valuation(terms_, {}), inputs_);
  std::size_t fewest = assumptions_.size() + 1;
  for (std::deque<Valuation>* const known : {&inputs_, &near_misses_}) {
    for (Valuation& values : *known) {
      Assumptions left = unsatisfied(values, fewest);
      if (left.size() >= fewest) continue;
      fewest = left.size();
      open = std::move(left);
      nearest = values.model();
      if (fewest == 0) return true;
    }
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
      keep(std::move(values), inputs_);
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

void Solver::keep(Valuation values, std::deque<Valuation>& among) {
  among.push_front(std::move(values));
  if (among.size() > kMaxInputs) among.pop_back();
}

std::chrono::milliseconds Solver::timeLeft() const {
  if (deadline_ == ThreadClock::time_point::max()) return time_;
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline_ - ThreadClock::now());
  return std::clamp(left, std::chrono::milliseconds(1), time_);
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
  keep(Valuation(terms_, model), inputs_);
  last_ = std::move(model);
  return answer;
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
