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
constexpr std::uint64_t kPeriodsSeen = 4;  ///< before a loop ends, for its period to be found

}  // namespace

std::vector<Condition> conditionsOf(symbolic::Terms& terms, const Decision& decision) {
  std::vector<Condition> conditions;
  std::set<std::pair<TermId, bool>> known;
  machine::forEachLane(decision.lanes, [&](unsigned lane) {
    const Condition one{terms.ofLane(decision.condition, lane), (decision.truth & machine::laneBit(lane)) != 0};
    if (!terms.isConstant(one.predicate) && known.emplace(one.predicate, one.holds).second) conditions.push_back(one);
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

// Accesses that were not made, though other numbers of turns, or the inputs that ask for them, may make them.
void LoopCloser::addNotMade(const ClosedLoop& loop, const Decision& decision, std::vector<Exit>& not_made) {
  for (const Condition& condition : conditionsOf(terms_, decision)) {
    if (condition.holds == decision.wants) continue;
    const bool changes = loop.input != 0 && seen(loop, condition.predicate) != atFirst(loop, condition.predicate);
    if (changes || terms_.contains(condition.predicate, loop.closure.turns)) not_made.push_back({condition, decision.instr});
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
      } else if (terms_.contains(condition.predicate, loop.closure.turns)) {
        const bool is_inner = terms_.symbolsOf(condition.predicate).size() == 1;
        (is_inner ? found.inner : found.exits).push_back({condition, decision.instr});
      }
    }
  }
  found.way_in = solver_.shortened(std::move(found.way_in));
  return found;
}

std::optional<std::uint64_t> LoopCloser::neededTurns(ClosedLoop& loop, const PathLog& log) {
  const auto decisions = decisionsOf(loop, log);
  if (!decisions) return std::nullopt;
  if (decisions->exits.empty()) return 0;
  if (!findShorter(loop, decisions->exits, decisions->way_in)) return std::nullopt;
  return terms_[loop.input].high / loop.distance + 1;
}

// After `count` periods the input is rest + distance * count. Written so, what the loop decides is a term of `rest`
// alone, most often by the arithmetic of terms already.
void LoopCloser::setInput(ClosedLoop& loop, TermId input, std::uint64_t distance) {
  const symbolic::Symbol symbol = terms_.symbols()[terms_[input].value];
  const std::string number = std::to_string(count_++);
  loop.input = input;
  loop.distance = distance;
  loop.rest = terms_.symbol(symbol.name + "." + number, symbol.width, symbol.low, symbol.high);
  loop.count = terms_.symbol("n" + number, 32, 0, std::min(symbol.high / distance, terms_[loop.closure.turns].high));
}

// With the loop's symbols, after any number of periods.
TermId LoopCloser::seen(const ClosedLoop& loop, TermId term) {
  if (loop.input == 0) return term;
  const unsigned width = terms_[loop.input].width;
  const TermId passed = terms_.multiply(terms_.resize(loop.count, width), terms_.constant(loop.distance, width));
  return terms_.substitute(term, {{loop.input, terms_.add(loop.rest, passed)}, {loop.closure.turns, loop.count}});
}

// In a run whose input is what is left, before the first period.
TermId LoopCloser::atFirst(const ClosedLoop& loop, TermId term) {
  symbolic::Terms::Substitution first{{loop.closure.turns, terms_.constant(0, 32)}};
  if (loop.input != 0) first[loop.input] = loop.rest;
  return terms_.substitute(term, first);
}

bool LoopCloser::isAsAtFirst(const ClosedLoop& loop, TermId condition) {
  const TermId now = seen(loop, condition), first = atFirst(loop, condition);
  return now == first || solver_.follows(terms_.equal(now, first)) == Answer::kYes;
}

TermId LoopCloser::atLeast(TermId term, std::uint64_t word) {
  return terms_.bitNot(terms_.less(term, terms_.constant(word, terms_[term].width), false));
}

// What is left is at least what the way to the loop takes: the invariant of its turns.
void LoopCloser::assumeLongEnough(const ClosedLoop& loop) {
  if (loop.input == 0) return;
  const symbolic::Term bounds = terms_[loop.input];
  solver_.assume(atLeast(loop.rest, loop.least));
  solver_.assume(seen(loop, terms_.less(terms_.constant(bounds.high, bounds.width), loop.input, false)), false);
}

// All decisions of the period before this one were to go on, and the input is long enough for that.
void LoopCloser::assumeTurnBefore(const ClosedLoop& loop) {
  const TermId turns = loop.closure.turns;
  const symbolic::Terms::Substitution before{{turns, terms_.subtract(turns, terms_.constant(1, 32))}};
  solver_.assume(seen(loop, terms_.less(terms_.constant(0, 32), turns, false)));
  for (const Condition& condition : loop.continues) solver_.assume(seen(loop, terms_.substitute(condition.predicate, before)), condition.holds);
  assumeLongEnough(loop);
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
  for (const std::uint64_t constant : terms_.constantsOf(exit)) {
    if (constant > 1 && constant < (1u << 16)) factors.insert(constant);
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
  for (std::uint64_t more = 0; more < 1200; more = more < 80 ? more + 1 : more + 37) {
    const std::uint64_t value = loop.least + more;
    for (const std::uint64_t turns : {1ull, 2ull, 5ull}) {
      if (at(0, value) != at(turns, value + turns * distance)) return false;
    }
  }
  return true;
}

// By bisection; the conditions need not be monotonic, the result is then merely not the least, and the proof fails.
std::uint64_t LoopCloser::leastValue(TermId input, const std::vector<Condition>& way_in) {
  const Solver::Scope scope(solver_);
  for (const Condition& condition : way_in) solver_.assume(condition.predicate, condition.holds);
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
  const Solver::Scope scope(solver_);
  assumeLongEnough(loop);
  for (const Condition& condition : way_in) solver_.assume(seen(loop, condition.predicate), condition.holds);
  for (const Exit& exit : exits) {
    if (!isAsAtFirst(loop, exit.condition.predicate)) return false;
  }
  for (const Exit& exit : exits) solver_.assume(atFirst(loop, exit.condition.predicate), exit.condition.holds);
  return solver_.follows(atLeast(loop.rest, loop.least + loop.distance)) == Answer::kYes;
}

bool LoopCloser::findShorter(ClosedLoop& loop, const std::vector<Exit>& exits, const std::vector<Condition>& way_in) {
  const TermId exit = exits.front().condition.predicate;
  for (const TermId symbol : terms_.symbolsOf(exit)) {
    if (symbol == loop.closure.turns) continue;
    loop.least = leastValue(symbol, way_in);
    std::size_t tries = 0;
    for (const std::uint64_t distance : distances(loop, exit)) {
      if (++tries > kMaxDistances) break;
      if (!agreesAtSamples(loop, exit, symbol, distance)) continue;
      setInput(loop, symbol, distance);
      if (holdsWith(loop, exits, way_in)) return true;
      if (const std::uint64_t before = loop.least / distance; before > loop.periods_before) {
        loop.periods_before = before;
        loop.is_longer = atLeast(symbol, loop.least + (before + kPeriodsSeen) * distance);
      }
    }
  }
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
      if (solver_.follows(inner.condition.predicate, inner.condition.holds) != Answer::kYes) {
        return Obstacle{"what is decided here changes with the number of turns", inner.instr};
      }
      loop.continues.push_back(inner.condition);
    }
    for (const Exit& access : decisions->not_made) {
      if (solver_.follows(access.condition.predicate, access.condition.holds) != Answer::kYes) {
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

void LoopCloser::assumeWayIn(const ClosedLoop& loop, const PathLog& log) {
  const auto decisions = decisionsOf(loop, log);
  if (!decisions) return;
  for (const Condition& condition : decisions->way_in) solver_.assume(condition.predicate, condition.holds);
}

std::optional<Obstacle> LoopCloser::proveWayIn(const ClosedLoop& loop, const PathLog& log) {
  const auto decisions = decisionsOf(loop, log);
  if (!decisions || (loop.input == 0 && decisions->exits.empty())) return std::nullopt;
  const std::uint32_t instr = decisions->exits.empty() ? 0 : decisions->exits.front().instr;
  const Obstacle obstacle{"another way leads to it, from which its end may come sooner", instr};
  {
    if (loop.input == 0) return obstacle;
    const Solver::Scope scope(solver_);
    for (const Condition& condition : decisions->way_in) solver_.assume(condition.predicate, condition.holds);
    if (solver_.follows(atLeast(loop.input, loop.least)) != Answer::kYes) return obstacle;
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
  std::vector<Exit> way_in;
  std::vector<Condition> conditions;
  for (std::size_t d = 0; d < applied->decisions; ++d) {
    if (log.decisions[d].kind == Decision::Kind::kAccess) continue;
    for (const Condition& condition : conditionsOf(terms_, log.decisions[d])) {
      way_in.push_back({condition, log.decisions[d].instr});
      conditions.push_back(condition);
    }
  }
  for (const Condition& condition : solver_.shortened(conditions)) solver_.assume(seen(loop, condition.predicate), condition.holds);
  assumeTurnBefore(loop);
  std::vector<Exit> not_made;
  for (std::size_t d = applied->decisions; d < log.decisions.size(); ++d) {
    const Decision& decision = log.decisions[d];
    if (decision.kind == Decision::Kind::kAccess) {
      addNotMade(loop, decision, not_made);
      continue;
    }
    for (const Condition& condition : conditionsOf(terms_, decision)) {
      if (!isAsAtFirst(loop, condition.predicate)) {
        return Obstacle{"what is decided here changes with the number of turns of a loop before it", decision.instr};
      }
      solver_.assume(seen(loop, condition.predicate), condition.holds);
    }
  }
  // With all that the path has decided: how much is left of the input says its end.
  for (const Exit& access : not_made) {
    if (solver_.follows(seen(loop, access.condition.predicate), access.condition.holds) != Answer::kYes) {
      return Obstacle{"an access is made here for some numbers of turns only", access.instr};
    }
  }
  for (const auto& [condition, instr] : way_in) {
    if (solver_.follows(atFirst(loop, condition.predicate), condition.holds) != Answer::kYes) {
      return Obstacle{"what was decided here, before a loop, does not go with fewer turns of it", instr};
    }
  }
  return std::nullopt;
}

}  // namespace handoff::explore
