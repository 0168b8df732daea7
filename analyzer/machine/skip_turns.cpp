// SPDX-License-Identifier: Apache-2.0
#include "analyzer/machine/skip_turns.h"

#include <algorithm>
#include <set>
#include <utility>

#include "analyzer/machine/executor.h"
#include "analyzer/symbolic/valuation.h"

namespace handoff::machine {

using symbolic::kConcrete;

namespace {

constexpr std::uint64_t kLongRun = 24'000;     ///< warp instructions; shorter ones are not worth the search
constexpr std::size_t kMaxRepetition = 256;    ///< in rounds
constexpr std::size_t kMaxSamples = 64;
constexpr int kShareOfStates = 12;             ///< of the run's time, as a divisor
constexpr std::uint64_t kMaxTurns = 4096;      ///< skipped at a time
constexpr std::uint64_t kMaxEvaluations = 400'000;
constexpr std::size_t kMaxConditions = 20'000;

}  // namespace

// The last rounds are those before them once more.
std::size_t TurnFinder::repetition() const {
  const std::size_t count = rounds_.size();
  for (std::size_t length = 1; length <= kMaxRepetition && 2 * length <= count; ++length) {
    const auto end = rounds_.end(), middle = end - static_cast<std::ptrdiff_t>(length);
    if (rounds_[count - 1 - length] == rounds_[count - 1] && std::equal(middle, end, middle - static_cast<std::ptrdiff_t>(length))) return length;
  }
  return 0;
}

bool TurnFinder::endRound(std::uint64_t places) {
  if (pause_ != 0) {
    --pause_;
    return false;
  }
  rounds_.push_back(places);
  if (length_ == 0) {
    left_ = length_ = repetition();
    return length_ != 0;
  }
  if (rounds_[rounds_.size() - 1 - length_] != places) {
    startOver();
    return false;
  }
  if (--left_ != 0) return false;
  left_ = length_;
  return true;
}

bool TurnFinder::add(symbolic::Terms& terms, TurnSample sample) {
  samples_.push_back(std::move(sample));
  const std::size_t last = samples_.size() - 1;
  for (std::size_t turns = 1; 2 * turns <= last; ++turns) {
    const TurnSample &a = samples_[last - 2 * turns], &b = samples_[last - turns], &c = samples_[last];
    if (a.boundary.state != c.boundary.state || b.boundary.state != c.boundary.state) continue;
    if (a.faults != c.faults || a.guesses != c.guesses || b.round - a.round != c.round - b.round) continue;
    auto one = stepsBetween(terms, a.live, a.boundary, b.boundary);
    // Without a step the loop would never end.
    if (!one || one->empty() || stepsBetween(terms, a.live, b.boundary, c.boundary) != one) continue;
    steps_ = std::move(*one);
    turns_ = turns;
    return true;
  }
  if (samples_.size() == kMaxSamples) giveUp();
  return false;
}

void TurnFinder::giveUp() {
  startOver();
  pause_ = next_pause_;
  next_pause_ *= 2;
}

void TurnFinder::startOver() {
  length_ = 0;
  rounds_.clear();
  samples_.clear();
}

TermId atFirstTurn(symbolic::Terms& terms, TermId term, TermId passed) {
  if (term == kConcrete || !terms.contains(term, passed)) return term;
  const TermId now = terms.substitute(term, {{passed, terms.constant(0, 32)}});
  return terms[now].has_symbols ? now : kConcrete;
}

std::uint64_t turnsAlike(const symbolic::Terms& terms, TermId turns, const std::vector<TurnCondition>& conditions,
                         std::uint64_t most) {
  most = std::min(most, kMaxEvaluations / (conditions.size() + 1));
  symbolic::Model model(terms.symbols().size(), 0);
  for (std::uint64_t turn = 1; turn <= most; ++turn) {
    model[terms[turns].value] = turn;
    symbolic::Valuation now(terms, model);
    for (const TurnCondition& condition : conditions) {
      if ((now(condition.predicate) != 0) != condition.holds) return turn - 1;
    }
  }
  return most;
}

std::uint64_t Executor::placesOfThreads() const {
  std::uint64_t hash = 0;
  for (const Warp& warp : run_.cluster.warps) {
    hash = mix(hash, warp.fragments.size());
    for (const Fragment& fragment : warp.fragments) {
      hash = mix(hash, (std::uint64_t{fragment.pc} << 32) | fragment.lanes);
      hash = mix(hash, static_cast<std::uint64_t>(fragment.state));
    }
    for (const Join& join : warp.joins) hash = mix(hash, (std::uint64_t{join.pc} << 32) | join.arrived);
  }
  return hash;
}

// What a report is made of is not skipped, nor what states do not have: the shadow of global memory, choices by turns.
bool Executor::maySkipTurns() const {
  return outcome_.steps >= kLongRun && setup_.tracked.empty() && options_.trace == nullptr && watch_ == nullptr && !choices_.isMixed() &&
         !box_finder_.isGathering() && !reads_inputs_ && (options_.path == nullptr || options_.path->closures.empty());
}

TurnSample Executor::sampleState() {
  if (!guards_) guards_.emplace(program_);
  TurnSample sample;
  sample.live = liveRegisters();
  sample.boundary.state = presentState().state;
  addRegisters(sample.boundary, sample.live, /*keeps_words=*/true);
  sample.faults = outcome_.misuses.size() + outcome_.conflicts.size();
  for (const Conflict& conflict : outcome_.conflicts) sample.faults += conflict.reads.size() + conflict.has_more;
  sample.round = skips_.round;
  sample.guesses = skips_.guesses;
  return sample;
}

void Executor::considerSkipping() {
  ++skips_.round;
  if (skips_.turn) {
    if (--skips_.turn->rounds_left == 0) endTurn();
    return;
  }
  if (!maySkipTurns() || !skips_.finder.endRound(placesOfThreads())) return;
  // States that never come back are not to take much of the run's time.
  const auto now = ThreadClock::now();
  if (skips_.spent * kShareOfStates > now - start_) return skips_.finder.giveUp();
  const bool is_found = skips_.finder.add(path_ != nullptr ? path_->terms() : skips_.terms, sampleState());
  skips_.spent += ThreadClock::now() - now;
  if (is_found) beginTurn();
}

// From here on the registers that move are terms of the turns that have passed, of which there are none.
void Executor::beginTurn() {
  TurnFinder& finder = skips_.finder;
  PathLog log = options_.path != nullptr ? options_.path->empty() : PathLog(skips_.terms, skips_.no_inputs, {});
  skips_.turn.emplace(TermTurn{.log = std::move(log), .rounds_left = finder.rounds(), .limits_before = outcome_.limits.size()});
  path_ = &skips_.turn->log;
  symbolic::Terms& terms = path_->terms();
  skips_.turn->passed = terms.symbol("turns passed", 32, 0, kMaxTurns);
  for (Warp& warp : run_.cluster.warps) {
    skips_.turn->passes_before.push_back(warp.passes);
    if (options_.path == nullptr) warp.terms.assign(program_.register_count, kConcrete);
  }
  for (const RegisterStep& step : finder.steps()) {
    Warp& warp = run_.cluster.warps[step.warp];
    const unsigned width = program_.slot_bits[step.slot];
    const TermId move = terms.multiply(terms.resize(skips_.turn->passed, width), terms.lanes(step.delta, width));
    warp.terms[step.slot] = terms.add(asTerm(warp.terms[step.slot], warp.registers[step.slot], warp.live, width), move);
  }
}

bool Executor::goesByTurns(TermId term) const {
  return skips_.turn && path_->terms().symbolsOf(term) == std::vector<TermId>{skips_.turn->passed};
}

// Conditions on the turns alone. Nothing where the inputs have a say as well.
bool Executor::addTurnCondition(TermId predicate, bool holds, std::vector<TurnCondition>& conditions) const {
  const symbolic::Terms& terms = path_->terms();
  if (!terms.contains(predicate, skips_.turn->passed)) return terms.isConstant(predicate) ? (terms[predicate].value != 0) == holds : true;
  if (terms.symbolsOf(predicate).size() != 1 || conditions.size() >= kMaxConditions) return false;
  conditions.push_back({predicate, holds});
  return true;
}

// The registers that are needed have to be those of the next turn.
bool Executor::addReturnConditions(const TurnSample& end, std::vector<TurnCondition>& conditions) {
  symbolic::Terms& terms = path_->terms();
  const TurnSample& start = skips_.finder.start();
  const auto steps = stepsBetween(terms, start.live, start.boundary, endOfTurn(end));
  if (steps != skips_.finder.steps()) return false;
  for (std::size_t r = 0; r < end.live.size(); ++r) {
    const PathLog::Register& reg = end.live[r];
    const Warp& warp = run_.cluster.warps[reg.warp];
    const TermId held = termAt(warp, reg.slot), before = start.boundary.terms[r];
    const auto isOf = [&](const RegisterStep& s) { return s.warp == reg.warp && s.slot == reg.slot; };
    const auto step = std::find_if(steps->begin(), steps->end(), isOf);
    if (step == steps->end() && (held == kConcrete || !terms.contains(held, skips_.turn->passed))) continue;
    if (held == kConcrete) return false;
    const TermId next = terms.add(terms.resize(skips_.turn->passed, reg.width), terms.constant(1, reg.width));
    bool is_fine = true;
    forEachLane(warp.live & ~warp.registers[reg.slot].unknown, [&](unsigned lane) {
      const TermId first = before != kConcrete ? terms.resize(terms.ofLane(before, lane), reg.width)
                                               : terms.constant(start.boundary.words[r * kWarpSize + lane], reg.width);
      const std::uint64_t delta = step == steps->end() ? 0 : step->delta[lane];
      const TermId expected = terms.add(first, terms.multiply(next, terms.constant(delta, reg.width)));
      const TermId found = terms.resize(terms.ofLane(held, lane), reg.width);
      is_fine = is_fine && addTurnCondition(terms.equal(found, expected), true, conditions);
    });
    if (!is_fine) return false;
  }
  return true;
}

// As it is when no turns have passed before.
Boundary Executor::endOfTurn(const TurnSample& end) {
  Boundary boundary = end.boundary;
  for (std::size_t r = 0; r < boundary.terms.size(); ++r) {
    const TermId now = atFirstTurn(path_->terms(), boundary.terms[r], skips_.turn->passed);
    if (std::exchange(boundary.terms[r], now) == now || now != kConcrete) continue;
    const Warp& warp = run_.cluster.warps[end.live[r].warp];
    const Lanes& lanes = warp.registers[end.live[r].slot];
    forEachLane(warp.live & ~lanes.unknown, [&](unsigned lane) { boundary.words[r * kWarpSize + lane] = lanes.word[lane]; });
  }
  return boundary;
}

void Executor::endTurn() {
  TurnFinder& finder = skips_.finder;
  const TurnSample end = sampleState();
  const TurnSample& start = finder.start();
  symbolic::Terms& terms = path_->terms();
  std::vector<TurnCondition> conditions;
  bool returns = end.boundary.state == start.boundary.state && end.faults == start.faults && end.guesses == start.guesses &&
                 addReturnConditions(end, conditions);
  std::set<std::pair<TermId, bool>> known;
  for (const Decision& decision : path_->decisions) {
    forEachLane(decision.lanes, [&](unsigned lane) {
      const TermId predicate = terms.ofLane(decision.condition, lane);
      const bool holds = (decision.truth & laneBit(lane)) != 0;
      if (returns && known.emplace(predicate, holds).second) returns = addTurnCondition(predicate, holds, conditions);
    });
  }
  const std::uint64_t turns = returns ? turnsAlike(terms, skips_.turn->passed, conditions, kMaxTurns) : 0;
  const TermTurn turn = leaveTurn(/*has_skipped=*/turns != 0);
  if (turns == 0) return finder.giveUp();
  skipTurns(turn, turns);
  finder.startOver();
}

// The registers that move do so at once. What counts executions of an instruction has counted these, too.
void Executor::skipTurns(const TermTurn& turn, std::uint64_t turns) {
  for (const RegisterStep& step : skips_.finder.steps()) {
    Warp& warp = run_.cluster.warps[step.warp];
    Lanes& lanes = warp.registers[step.slot];
    const unsigned width = program_.slot_bits[step.slot];
    const std::uint64_t mask = symbolic::widthMask(width);
    symbolic::LaneWords move = step.delta;
    for (unsigned lane = 0; lane < kWarpSize; ++lane) {
      move[lane] *= turns;
      lanes.word[lane] = (lanes.word[lane] + move[lane]) & mask;
    }
    if (termAt(warp, step.slot) == kConcrete) continue;
    warp.terms[step.slot] = path_->terms().add(warp.terms[step.slot], path_->terms().lanes(move, width));
  }
  for (Warp& warp : run_.cluster.warps) {
    const std::vector<std::uint32_t>& before = turn.passes_before[warp.id];
    for (std::size_t op = 0; op < warp.passes.size(); ++op) {
      const std::uint32_t passed = warp.passes[op] - (op < before.size() ? before[op] : 0);
      warp.passes[op] += static_cast<std::uint32_t>(turns) * passed;
    }
  }
  skips_.round += turns * skips_.finder.rounds();
  outcome_.skipped_turns += turns;
}

// Back to the words, and to the run's own log, which gets what the turn decided on the inputs.
TermTurn Executor::leaveTurn(bool has_skipped) {
  TermTurn turn = std::move(*skips_.turn);
  skips_.turn.reset();
  path_ = options_.path;
  symbolic::Terms& terms = turn.log.terms();
  races_.forgetTurn(terms, turn.passed, has_skipped);
  const symbolic::Terms::Substitution first{{turn.passed, terms.constant(0, 32)}};
  for (Warp& warp : run_.cluster.warps) {
    if (path_ == nullptr) {
      warp.terms.clear();
      continue;
    }
    for (TermId& term : warp.terms) term = atFirstTurn(terms, term, turn.passed);
  }
  if (path_ != nullptr) {
    for (Decision decision : turn.log.decisions) {
      decision.condition = terms.substitute(decision.condition, first);
      if (decision.value != kConcrete) decision.value = terms.substitute(decision.value, first);
      path_->add(decision);
    }
  }
  // What states like this one bring was said before; what is new is about other numbers of turns.
  run_.keepLimits(turn.limits_before);
  return turn;
}

}  // namespace handoff::machine
