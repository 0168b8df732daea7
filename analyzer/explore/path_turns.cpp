// SPDX-License-Identifier: Apache-2.0
// Generational search over the decisions of runs: what other inputs decide otherwise, and the accesses that they make.
#include "analyzer/explore/paths.h"

#include <algorithm>

namespace handoff::explore {

using machine::Decision;
using machine::PathLog;
using symbolic::Solver;
using symbolic::TermId;
using Answer = symbolic::Solver::Answer;

namespace {

/// Without a period, a loop is turned this often.
constexpr unsigned kMaxTurnsWithoutPeriod = 64;
/// An operand that depends on the inputs is tried with so many values.
constexpr unsigned kMaxOperandValues = 4, kMaxOperandNodes = 32;

}  // namespace

Paths::Key Paths::keyOf(const Decision& decision) {
  const bool is_access = decision.kind == Decision::Kind::kAccess;
  return {decision.kind, atFirstTurn(decision.condition), decision.lanes, is_access ? decision.instr : 0};
}

bool Paths::isKnown(const Node& node, const Decision& decision) {
  const Key key = keyOf(decision);
  return (node.known && node.known->contains(key)) || (node.inherited && node.inherited->contains(key));
}

// A run with more accesses than another one may decide nothing more.
bool Paths::hasNew(const Node& node, const PathLog& log) {
  return node.wanted.empty() ||
         std::any_of(log.decisions.begin(), log.decisions.end(), [&](const Decision& decision) { return !isKnown(node, decision); });
}

void Paths::expand(const Node& node, const PathLog& log) {
  std::size_t end = log.decisions.size();
  for (const PathLog::Returned& returned : log.returned) end = std::min(end, returned.decisions);
  const Solver::Scope scope(solver_);
  Keys passed;
  bool has_met = !node.turned;
  for (std::size_t d = 0; d < end; ++d) {
    const Decision& decision = log.decisions[d];
    const bool is_known = isKnown(node, decision);
    passed.insert(keyOf(decision));
    if (decision.kind == Decision::Kind::kAccess) {
      if (decision.leaves_loop) {
        addLimit("how often a thread turns this loop of reads depends on the inputs: the longest that was run stands for all", decision.instr);
      }
      continue;
    }
    if (isOutOfBudget()) return;
    if (!is_known && !has_met && decision.kind == node.turned->kind && decision.instr == node.turned->instr) {
      has_met = true;
    } else if (!is_known) {
      turnRound(decision, {node, log, passed, d});
    }
    for (const Condition& condition : conditionsOf(terms_, decision)) {
      const TermId term = atFirstTurn(condition.predicate);
      if (!terms_.isConstant(term)) solver_.assume(term, condition.holds);
    }
  }
  if (!has_met) checkMet(node, log);
  addAccesses({node, log, passed, end});
}

// What lies between accesses that only some inputs make, other inputs need not come to.
void Paths::checkMet(const Node& node, const PathLog& log) {
  const bool is_there = std::any_of(log.decisions.begin(), log.decisions.end(), [&](const Decision& decision) {
    return decision.kind == node.turned->kind && decision.instr == node.turned->instr && !isKnown(node, decision);
  });
  if (!is_there && node.may_miss_it) addLimit("what some sizes decide here was in no run", node.turned->instr);
}

// The conditions of accesses that a run made, or of those that it did not, in their order.
std::vector<Paths::Wanted> Paths::accessesOf(const PathLog& log, std::size_t end, bool made, const Keys* without) {
  std::vector<Wanted> found;
  std::set<Wanted> known;
  for (std::size_t d = 0; d < end; ++d) {
    const Decision& access = log.decisions[d];
    if (access.kind != Decision::Kind::kAccess || (without != nullptr && without->contains(keyOf(access)))) continue;
    for (const Condition& condition : conditionsOf(terms_, access)) {
      if ((condition.holds == access.wants) != made) continue;
      const TermId term = atFirstTurn(condition.predicate);
      const Wanted wanted{access.wants ? term : terms_.bitNot(term), access.instr};
      if (!terms_.isConstant(wanted.condition) && known.insert(wanted).second) found.push_back(wanted);
    }
  }
  return found;
}

// A run with an access covers one without it that is alike in all else. So each path is run with all accesses that can
// be made on it. What such a run decides beyond the one without is turned round from there.
void Paths::addAccesses(const Place& place) {
  std::vector<Wanted> missing = accessesOf(place.log, place.decisions, /*made=*/false, place.node.inherited.get());
  if (missing.empty() || addRunWithAll(missing, place)) return;
  while (!missing.empty() && !isOutOfBudget()) missing = addRunWithSome(missing, place);
}

// Inputs that leave out an access do not come to what is decided within it: those that make the same accesses as the
// run, all of them or else the nearest.
void Paths::keepAccesses(const Place& place) {
  constexpr std::size_t kMaxTried = 32;
  std::vector<Wanted> made = accessesOf(place.log, place.decisions, /*made=*/true);
  if (made.empty()) return;
  TermId all = terms_.constant(1, 1);
  for (const Wanted& access : made) all = terms_.bitAnd(all, access.condition);
  if (feasibleWith(all) == Answer::kYes) return solver_.assume(all);
  if (made.size() > kMaxTried) made.erase(made.begin(), made.end() - kMaxTried);
  for (auto access = made.rbegin(); access != made.rend(); ++access) {
    if (feasibleWith(access->condition) == Answer::kYes) solver_.assume(access->condition);
  }
}

void Paths::checkMade(const Node& node, const PathLog& log) {
  if (node.wanted.empty()) return;
  const std::vector<Wanted> made = accessesOf(log, log.decisions.size(), /*made=*/true);
  for (const Wanted& wanted : node.wanted) {
    const auto isIt = [&](const Wanted& other) { return other == wanted; };
    if (std::none_of(made.begin(), made.end(), isIt)) addLimit("an access that some sizes make was in no run", wanted.instr);
  }
}

bool Paths::addRunWithAll(const std::vector<Wanted>& wanted, const Place& place) {
  const Solver::Scope together(solver_);
  for (const Wanted& access : wanted) solver_.assume(access.condition);
  return solver_.isFeasible() == Answer::kYes && addAccessNode(wanted, place);
}

bool Paths::addAccessNode(const std::vector<Wanted>& wanted, const Place& place) {
  keepAccesses(place);
  if (solver_.isFeasible() != Answer::kYes) return false;
  auto inherited = std::make_shared<Keys>(place.passed);
  if (place.node.inherited) inherited->insert(place.node.inherited->begin(), place.node.inherited->end());
  queue_.push_back({.inputs = inputsOfModel(), .wanted = wanted, .inherited = std::move(inherited)});
  return true;
}

// A run that makes as many of these accesses as go together, in their order; returns the others.
std::vector<Paths::Wanted> Paths::addRunWithSome(const std::vector<Wanted>& wanted, const Place& place) {
  const Solver::Scope together(solver_);
  std::vector<Wanted> left, chosen;
  std::map<TermId, Answer> answers;   // several accesses may go by one condition
  for (const Wanted& access : wanted) {
    const auto [known, is_new] = answers.try_emplace(access.condition, Answer::kNo);
    if (is_new) known->second = feasibleWith(access.condition);
    if (known->second == Answer::kYes) {
      if (is_new) solver_.assume(access.condition);
      chosen.push_back(access);
    } else if (known->second == Answer::kUnknown) {
      addLimit("it could not be decided in time whether inputs exist that make this access", access.instr);
    } else {
      left.push_back(access);
    }
  }
  if (chosen.empty()) return {};  // none of them can be made on this path
  if (!addAccessNode(chosen, place)) {
    addLimit("inputs that make an access exist, but were not found in time", chosen.front().instr);
  }
  return left;
}

Answer Paths::feasibleWith(TermId predicate) {
  const Solver::Scope with(solver_);
  solver_.assume(predicate);
  return solver_.isFeasible();
}

void Paths::turnRound(const Decision& decision, const Place& place) {
  std::vector<Condition> conditions = conditionsOf(terms_, decision);
  for (Condition& condition : conditions) condition.predicate = atFirstTurn(condition.predicate);
  std::erase_if(conditions, [&](const Condition& c) { return terms_.isConstant(c.predicate); });
  if (conditions.empty()) return;
  const auto attempt = [&](auto&& assume) {
    const Solver::Scope other(solver_);
    assume();
    const Answer answer = solver_.isFeasible();
    bool is_new = answer == Answer::kYes;
    if (answer == Answer::kUnknown) {
      addLimit("it could not be decided in time whether inputs exist that decide otherwise", decision.instr);
    }
    if (is_new && decision.leaves_loop && turned_[decision.instr]++ >= kMaxTurnsWithoutPeriod) {
      is_new = false;
      addLimit("the loop has no period within " + std::to_string(kMaxTurnsWithoutPeriod) + " turns" + (open_loop_.empty() ? "" : ": " + open_loop_),
               decision.instr);
    }
    if (is_new) addNode(decision, place);
  };
  if (decision.kind == Decision::Kind::kValue) return turnOperand(decision, conditions, place);
  if (conditions.size() == 1) {
    attempt([&] { solver_.assume(conditions.front().predicate, !conditions.front().holds); });
    return;
  }
  addLimit("threads may take different sides here: all of them, none, and a mix were run", decision.instr);
  // Lanes may differ: all of them one way, all the other way, and the first and the last apart.
  const auto allHold = [&](bool wanted) { return std::all_of(conditions.begin(), conditions.end(), [&](const Condition& c) { return c.holds == wanted; }); };
  for (const bool wanted : {true, false}) {
    if (allHold(wanted)) continue;
    attempt([&] {
      for (const Condition& c : conditions) solver_.assume(c.predicate, wanted);
    });
  }
  if (!allHold(true) && !allHold(false)) return;
  attempt([&] { solver_.assume(terms_.equal(conditions.front().predicate, conditions.back().predicate), false); });
}

// An operand: any other value in some lane, one after the other.
void Paths::turnOperand(const Decision& decision, std::vector<Condition> values, const Place& place) {
  const Solver::Scope others(solver_);
  for (unsigned tried = 0; tried <= kMaxOperandValues; ++tried) {
    TermId all = terms_.constant(1, 1);
    for (const Condition& c : values) all = terms_.bitAnd(all, c.holds ? c.predicate : terms_.bitNot(c.predicate));
    solver_.assume(all, false);
    const Answer answer = solver_.isFeasible();
    if (answer == Answer::kNo) return;
    if (answer == Answer::kUnknown) return addLimit("it could not be decided in time whether inputs exist that decide otherwise", decision.instr);
    if (tried == kMaxOperandValues || turned_[decision.instr]++ >= kMaxOperandNodes) {
      return addLimit("an operand depends on the inputs; not all of its values were run", decision.instr);
    }
    if (!addNode(decision, place)) return;
    // The next one has to differ from this one, too.
    symbolic::Model model = queue_.back().inputs;
    model.resize(terms_.symbols().size(), 0);
    if (decision.value == symbolic::kConcrete) {  // one of two
      for (Condition& c : values) c.holds = terms_.evaluate(c.predicate, 0, model) != 0;
      continue;
    }
    values.clear();
    machine::forEachLane(decision.value_lanes, [&](unsigned lane) {
      const TermId value = atFirstTurn(terms_.ofLane(decision.value, lane));
      const TermId same = terms_.equal(value, terms_.constant(terms_.evaluate(value, 0, model), terms_[value].width));
      if (!terms_.isConstant(same)) values.push_back({same, true});
    });
  }
}

// Among the inputs that take the other side: those near the assumed sizes, with as many accesses as can be.
void Paths::prefer(const Decision& decision, const PathLog& log) {
  const std::vector<TermId> asked = terms_.symbolsOf(decision.condition);
  const auto keepIfFeasible = [&](TermId predicate) {
    const bool is_feasible = feasibleWith(predicate) == Answer::kYes;
    if (is_feasible) solver_.assume(predicate);
    return is_feasible;
  };
  for (const TermId term : inputSymbols()) {
    const std::size_t i = terms_[term].value;
    const symbolic::Symbol& symbol = terms_.symbols()[i];
    const TermId base = terms_.constant(base_[i], symbol.width);
    const bool is_asked = std::find(asked.begin(), asked.end(), term) != asked.end();
    if (!is_asked && keepIfFeasible(terms_.equal(term, base))) continue;
    // Near the assumed size, or else small.
    const TermId above = terms_.bitNot(terms_.less(term, terms_.constant(base_[i] / 2, symbol.width), false));
    const TermId below = terms_.less(term, terms_.constant(2 * base_[i] + 8, symbol.width), false);
    if (base_[i] > 16 && keepIfFeasible(terms_.bitAnd(above, below))) continue;
    for (std::uint64_t most = 2 * base_[i] + 8; most < symbol.high; most = most > symbol.high / 4 ? symbol.high : 4 * most) {
      if (keepIfFeasible(terms_.less(term, terms_.constant(most, symbol.width), false))) break;
    }
  }
  constexpr std::size_t kMaxAccessConditions = 64;
  std::size_t tried = 0;
  TermId all = terms_.constant(1, 1);
  for (const Decision& access : log.decisions) {
    if (access.kind != Decision::Kind::kAccess || ++tried > kMaxAccessConditions) continue;
    machine::forEachLane(access.lanes, [&](unsigned lane) {
      const TermId term = atFirstTurn(terms_.ofLane(access.condition, lane));
      all = terms_.bitAnd(all, access.wants ? term : terms_.bitNot(term));
    });
  }
  if (!terms_.isConstant(all)) keepIfFeasible(all);
}

bool Paths::addNode(const Decision& decision, const Place& place) {
  const Solver::Scope preferences(solver_);  // of these inputs alone
  keepAccesses(place);
  prefer(decision, place.log);
  if (solver_.isFeasible() != Answer::kYes) {
    addLimit("inputs that decide otherwise exist, but were not found in time", decision.instr);
    return false;
  }
  const auto decided = place.log.decisions.begin();
  const bool is_behind_access = std::any_of(decided, decided + static_cast<std::ptrdiff_t>(place.decisions),
                                            [](const Decision& d) { return d.kind == Decision::Kind::kAccess; });
  Keys known = place.passed;
  known.erase(keyOf(decision));
  queue_.push_back({.inputs = inputsOfModel(), .turned = decision, .may_miss_it = is_behind_access,
                    .known = std::make_shared<const Keys>(std::move(known)), .inherited = place.node.inherited});
  return true;
}

// Without the symbols that count turns. prefer() has named all others.
symbolic::Model Paths::inputsOfModel() const {
  symbolic::Model inputs = solver_.model();
  inputs.resize(base_.size());
  return inputs;
}

}  // namespace handoff::explore
