// SPDX-License-Identifier: Apache-2.0
// Proving that a loop goes on as it began.
#include "analyzer/explore/closure.h"

#include <algorithm>
#include <set>

namespace handoff::explore {

using machine::Decision;
using machine::PathLog;
using symbolic::Solver;
using symbolic::TermId;
using Answer = symbolic::Solver::Answer;

namespace {

constexpr std::size_t kMaxDistances = 48;  ///< tried for an input

}  // namespace

std::vector<Condition> conditionsOf(symbolic::Terms& terms, const Decision& decision) {
  std::vector<Condition> conditions;
  std::set<std::pair<TermId, bool>> known;
  machine::forEachLane(decision.lanes, [&](unsigned lane) {
    const Condition one{terms.ofLane(decision.condition, lane), (decision.truth & machine::laneBit(lane)) != 0};
    if (!terms.isConstant(one.term) && known.emplace(one.term, one.holds).second) conditions.push_back(one);
  });
  return conditions;
}

std::unique_ptr<ClosedLoop> LoopCloser::candidate(const PathLog& log, const machine::Period& period, std::uint64_t turns) {
  const machine::Boundary& first = log.boundaries[period.first];
  auto loop = std::make_unique<ClosedLoop>();
  loop->closure = {.state = first.state, .registers = first.registers, .turns = terms_.symbol("t" + std::to_string(count_++), 32, 0, turns),
                   .length = period.length, .steps = period.steps};
  return loop;
}

// Accesses that this turn did not make: no later one may make them either.
void LoopCloser::addNotMade(const ClosedLoop& loop, const Decision& decision, std::vector<Exit>& not_made) {
  for (const Condition& condition : conditionsOf(terms_, decision)) {
    const bool is_open = condition.holds != decision.wants && terms_.contains(condition.term, loop.closure.turns);
    if (is_open) not_made.push_back({condition, decision.instr});
  }
}

std::optional<LoopCloser::Decisions> LoopCloser::decisionsOf(const ClosedLoop& loop, const PathLog& log) {
  const auto of = [&](const auto& entry) { return entry.closure == &loop.closure; };
  const auto applied = std::find_if(log.applied.begin(), log.applied.end(), of);
  const auto returned = std::find_if(log.returned.begin(), log.returned.end(), of);
  if (applied == log.applied.end() || returned == log.returned.end()) return std::nullopt;
  Decisions found;
  for (std::size_t d = 0; d < returned->decisions; ++d) {
    const Decision& decision = log.decisions[d];
    if (decision.kind == Decision::Kind::kAccess) {
      if (d >= applied->decisions) addNotMade(loop, decision, found.not_made);
      continue;
    }
    for (const Condition& condition : conditionsOf(terms_, decision)) {
      if (d < applied->decisions) {
        found.way_in.push_back(condition);
      } else if (terms_.contains(condition.term, loop.closure.turns)) {
        const bool is_inner = terms_.symbolsOf(condition.term).size() == 1;
        (is_inner ? found.inner : found.exits).push_back({condition, decision.instr});
      }
    }
  }
  return found;
}

std::optional<std::uint64_t> LoopCloser::neededTurns(ClosedLoop& loop, const PathLog& log) {
  const auto decisions = decisionsOf(loop, log);
  if (!decisions) return std::nullopt;
  if (decisions->exits.empty()) return 0;
  if (!findShorter(loop, decisions->exits, decisions->way_in)) return std::nullopt;
  return terms_[loop.input].high / loop.distance + 1;
}

TermId LoopCloser::atFirst(const ClosedLoop& loop, TermId term) {
  symbolic::Terms::Substitution first = loop.shorter;
  first[loop.closure.turns] = terms_.constant(0, 32);
  return terms_.substitute(term, first);
}

// The input is long enough for that many periods before the present one: input >= least + turns * distance, computed
// without wrapping.
TermId LoopCloser::isLongEnough(const ClosedLoop& loop, TermId turns) {
  const TermId needed = terms_.add(terms_.constant(loop.least, 64), terms_.multiply(terms_.resize(turns, 64), terms_.constant(loop.distance, 64)));
  return terms_.bitNot(terms_.less(terms_.resize(loop.input, 64), needed, false));
}

// All decisions of the period before this one were to go on, and the input is long enough for that.
void LoopCloser::assumeTurnBefore(const ClosedLoop& loop) {
  const TermId turns = loop.closure.turns;
  solver_.assume(terms_.less(terms_.constant(0, 32), turns, false));
  const symbolic::Terms::Substitution before{{turns, terms_.subtract(turns, terms_.constant(1, 32))}};
  for (const Condition& condition : loop.continues) solver_.assume(terms_.substitute(condition.term, before), condition.holds);
  if (loop.input != 0) solver_.assume(isLongEnough(loop, turns));
}

// By how much an input may have to shrink to end the loop one period earlier.
std::vector<std::uint64_t> LoopCloser::distances(const ClosedLoop& loop, TermId exit) const {
  std::set<std::uint64_t> steps, factors{1}, all;
  for (const machine::RegisterStep& step : loop.closure.steps) {
    const std::uint64_t delta = step.delta[0];
    for (const std::uint64_t size : {delta, (~delta + 1) & 0xffffffff}) {
      if (size != 0 && size < (1u << 20) && steps.size() < 16) steps.insert(size);
    }
  }
  std::vector<TermId> work{exit};
  std::set<TermId> seen;
  while (!work.empty()) {
    const TermId id = work.back();
    work.pop_back();
    if (id == 0 || !seen.insert(id).second) continue;
    const symbolic::Term& term = terms_[id];
    if (term.op == symbolic::TermOp::kConstant && term.value > 1 && term.value < (1u << 16)) factors.insert(term.value);
    work.insert(work.end(), {term.a, term.b, term.c});
  }
  for (const std::uint64_t step : steps) {
    for (const std::uint64_t factor : factors) {
      all.insert(step * factor);
      if (step % factor == 0) all.insert(step / factor);
    }
  }
  return {all.begin(), all.end()};
}

// A cheap test that leaves few candidates for the solver.
bool LoopCloser::agreesAtSamples(const ClosedLoop& loop, TermId exit, TermId symbol, std::uint64_t distance) const {
  symbolic::Model model(terms_.symbols().size(), 0);
  for (std::size_t i = 0; i < model.size(); ++i) model[i] = terms_.symbols()[i].low;
  const auto at = [&](std::uint64_t turns, std::uint64_t value) {
    model[terms_[loop.closure.turns].value] = turns;
    model[terms_[symbol].value] = value;
    return terms_.evaluate(exit, 0, model);
  };
  for (std::uint64_t value = 0; value < 1200; value = value < 80 ? value + 1 : value + 37) {
    for (const std::uint64_t turns : {1ull, 2ull, 5ull}) {
      if (at(0, value) != at(turns, value + turns * distance)) return false;
    }
  }
  return true;
}

// By bisection; the conditions need not be monotonic, the result is then merely not the least, and the proof fails.
std::uint64_t LoopCloser::leastValue(TermId input, const std::vector<Condition>& way_in) {
  const Solver::Scope scope(solver_);
  for (const Condition& condition : way_in) solver_.assume(condition.term, condition.holds);
  const symbolic::Term bounds = terms_[input];
  std::uint64_t low = bounds.low, high = bounds.high;
  while (low < high) {
    const std::uint64_t middle = low + (high - low) / 2;
    const Solver::Scope below(solver_);
    solver_.assume(terms_.less(terms_.constant(middle, bounds.width), input, false), false);
    const Answer answer = solver_.isFeasible();
    if (answer == Answer::kUnknown) return bounds.low;
    const bool is_below = answer == Answer::kYes;
    if (is_below) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}

// With the loop's input, distance and least value set: is "long enough" kept by every period, and are all decisions to
// go on those of the shorter input?
bool LoopCloser::holdsWith(const ClosedLoop& loop, const std::vector<Exit>& exits, const std::vector<Condition>& way_in) {
  const TermId turns = loop.closure.turns;
  const Solver::Scope scope(solver_);
  for (const Condition& condition : way_in) solver_.assume(condition.term, condition.holds);
  solver_.assume(isLongEnough(loop, turns));
  for (const Exit& exit : exits) {
    if (solver_.follows(terms_.equal(exit.condition.term, atFirst(loop, exit.condition.term))) != Answer::kYes) return false;
  }
  for (const Exit& exit : exits) solver_.assume(exit.condition.term, exit.condition.holds);
  return solver_.follows(isLongEnough(loop, terms_.add(turns, terms_.constant(1, 32)))) == Answer::kYes;
}

bool LoopCloser::findShorter(ClosedLoop& loop, const std::vector<Exit>& exits, const std::vector<Condition>& way_in) {
  const TermId turns = loop.closure.turns;
  const TermId exit = exits.front().condition.term;
  for (const TermId symbol : terms_.symbolsOf(exit)) {
    if (symbol == turns) continue;
    loop.input = symbol;
    loop.least = leastValue(symbol, way_in);
    std::size_t tries = 0;
    for (const std::uint64_t distance : distances(loop, exit)) {
      if (++tries > kMaxDistances) break;
      if (!agreesAtSamples(loop, exit, symbol, distance)) continue;
      const unsigned width = terms_[symbol].width;
      loop.distance = distance;
      loop.shorter = {{symbol, terms_.subtract(symbol, terms_.multiply(terms_.resize(turns, width), terms_.constant(distance, width)))}};
      if (holdsWith(loop, exits, way_in)) return true;
      loop.periods_before = std::max(loop.periods_before, loop.least / distance);
    }
  }
  loop.shorter.clear();
  loop.input = 0;
  return false;
}

std::optional<Obstacle> LoopCloser::prove(ClosedLoop& loop, const PathLog& log) {
  const auto decisions = decisionsOf(loop, log);
  if (!decisions) return Obstacle{"its state does not come back", 0};
  const auto returned = std::find_if(log.returned.begin(), log.returned.end(), [&](const auto& r) { return r.closure == &loop.closure; });
  {
    const Solver::Scope scope(solver_);
    solver_.assume(terms_.less(terms_.constant(0, 32), loop.closure.turns, false));
    for (const PathLog::Returned::Register& reg : returned->registers) {
      for (unsigned lane = 0; reg.found != reg.expected && lane < machine::kWarpSize; ++lane) {
        const TermId same = terms_.equal(terms_.ofLane(reg.found, lane), terms_.ofLane(reg.expected, lane));
        if (solver_.follows(same) != Answer::kYes) return Obstacle{"a register does not move on by the same amount every time", 0};
      }
    }
    for (const Exit& inner : decisions->inner) {
      if (solver_.follows(inner.condition.term, inner.condition.holds) != Answer::kYes) {
        return Obstacle{"what is decided here changes with the number of turns", inner.instr};
      }
      loop.continues.push_back(inner.condition);
    }
    for (const Exit& access : decisions->not_made) {
      if (solver_.follows(access.condition.term, access.condition.holds) != Answer::kYes) {
        return Obstacle{"an access is made here in some turns only", access.instr};
      }
    }
  }
  for (const Exit& exit : decisions->exits) loop.continues.push_back(exit.condition);
  if (decisions->exits.empty()) return std::nullopt;
  if (!findShorter(loop, decisions->exits, decisions->way_in)) {
    return Obstacle{"how often the loop turns does not go with its inputs by equal steps", decisions->exits.front().instr};
  }
  if (!coversAllTurns(loop)) return Obstacle{"the loop may have more turns than a proof counts", decisions->exits.front().instr};
  return std::nullopt;
}

std::optional<Obstacle> LoopCloser::proveWayIn(const ClosedLoop& loop, const PathLog& log) {
  const auto decisions = decisionsOf(loop, log);
  if (!decisions || (loop.input == 0 && decisions->exits.empty())) return std::nullopt;
  const std::uint32_t instr = decisions->exits.empty() ? 0 : decisions->exits.front().instr;
  const Obstacle obstacle{"another way leads to it, from which its end may come sooner", instr};
  {
    if (loop.input == 0) return obstacle;
    const Solver::Scope scope(solver_);
    for (const Condition& condition : decisions->way_in) solver_.assume(condition.term, condition.holds);
    if (solver_.follows(isLongEnough(loop, terms_.constant(0, 32))) != Answer::kYes) return obstacle;
  }
  if (!holdsWith(loop, decisions->exits, decisions->way_in)) return obstacle;
  return std::nullopt;
}

// "Long enough" bounds the number of turns by input / distance.
bool LoopCloser::coversAllTurns(const ClosedLoop& loop) const {
  return terms_[loop.input].high / loop.distance <= terms_[loop.closure.turns].high;
}

std::optional<Obstacle> LoopCloser::proveWayOut(const ClosedLoop& loop, const PathLog& log) {
  const auto applied = std::find_if(log.applied.begin(), log.applied.end(), [&](const auto& entry) { return entry.closure == &loop.closure; });
  if (applied == log.applied.end()) return std::nullopt;
  const Solver::Scope scope(solver_);
  std::vector<std::pair<Condition, std::uint32_t>> way_in;
  for (std::size_t d = 0; d < applied->decisions; ++d) {
    if (log.decisions[d].kind == Decision::Kind::kAccess) continue;
    for (const Condition& condition : conditionsOf(terms_, log.decisions[d])) {
      solver_.assume(condition.term, condition.holds);
      way_in.emplace_back(condition, log.decisions[d].instr);
    }
  }
  assumeTurnBefore(loop);
  for (std::size_t d = applied->decisions; d < log.decisions.size(); ++d) {
    const Decision& decision = log.decisions[d];
    if (decision.kind == Decision::Kind::kAccess) {
      std::vector<Exit> not_made;
      addNotMade(loop, decision, not_made);
      for (const Exit& access : not_made) {
        if (solver_.follows(access.condition.term, access.condition.holds) != Answer::kYes) {
          return Obstacle{"an access is made here after some numbers of turns only", access.instr};
        }
      }
      continue;
    }
    for (const Condition& condition : conditionsOf(terms_, decision)) {
      const TermId first = atFirst(loop, condition.term);
      if (first != condition.term && solver_.follows(terms_.equal(condition.term, first)) != Answer::kYes) {
        return Obstacle{"what is decided here changes with the number of turns of a loop before it", decision.instr};
      }
      solver_.assume(condition.term, condition.holds);
    }
  }
  for (const auto& [condition, instr] : way_in) {
    const TermId first = atFirst(loop, condition.term);
    if (first != condition.term && solver_.follows(first, condition.holds) != Answer::kYes) {
      return Obstacle{"what was decided here, before a loop, does not go with fewer turns of it", instr};
    }
  }
  for (const auto& [symbol, shorter] : loop.shorter) {
    const symbolic::Term& bounds = terms_[symbol];
    const TermId too_large = terms_.less(terms_.constant(bounds.high, bounds.width), shorter, false);
    const TermId too_small = terms_.less(shorter, terms_.constant(bounds.low, bounds.width), false);
    if (solver_.follows(too_large, false) != Answer::kYes || solver_.follows(too_small, false) != Answer::kYes) {
      return Obstacle{"an input from which turns of the loop are taken away gets out of bounds", 0};
    }
  }
  return std::nullopt;
}

}  // namespace handoff::explore
