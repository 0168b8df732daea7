// SPDX-License-Identifier: Apache-2.0
// Questions that no known inputs answer: taken apart, and the parts that decide given to Z3.
#include <algorithm>
#include <set>

#include "analyzer/symbolic/solver.h"

namespace handoff::symbolic {

namespace {

constexpr std::size_t kMaxIntervals = 256;
constexpr std::size_t kMinAlternatives = 8;  ///< of a piece that is split
constexpr unsigned kMaxSplits = 2;           ///< within one another
constexpr std::size_t kMaxAdded = 4;         ///< pieces that Z3 is given more of at a time
constexpr std::chrono::milliseconds kTimeAtOnce(60);
constexpr int kQuestionTimes = 2;            ///< the time of a question to Z3, for all that belong together
constexpr std::size_t kMaxBox = 256;        ///< choices of values that are tried one by one

// Where the symbols have few values left, as the numbers of blocks have, all of them are tried: Z3 takes milliseconds to
// begin. Nothing where there are too many. kYes: the model has the values.
std::optional<Answer> askBox(const Terms& terms, const Assumptions& assumptions, const Ranges& ranges,
                                     Model& model) {
  std::map<TermId, std::vector<std::uint64_t>> box;
  std::size_t choices = 1;
  for (const Assumption& assumption : assumptions) {
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
    const auto holds = [&](const Assumption& a) { return (values(a.predicate) != 0) == a.holds; };
    if (std::all_of(assumptions.begin(), assumptions.end(), holds)) return Answer::kYes;
  }
  return Answer::kNo;
}

}  // namespace

/// Inputs are wanted that satisfy `chosen` and `open`, within `ranges`.
struct Solver::Search {
  Assumptions chosen;    ///< that Z3 is given, ascending
  Ranges chosen_ranges;  ///< likewise
  Assumptions open;      ///< that an evaluation of its answer looks after
  Ranges ranges;
  std::chrono::milliseconds time{0};   ///< for each question to Z3
  ThreadClock::time_point end{};       ///< of all of them

  void add(const Assumptions& pieces) {
    chosen.insert(chosen.end(), pieces.begin(), pieces.end());
    std::sort(chosen.begin(), chosen.end());
    chosen.erase(std::unique(chosen.begin(), chosen.end()), chosen.end());
  }
};

bool Solver::isConflict(const Ranges& ranges) {
  return std::any_of(ranges.begin(), ranges.end(), [](const auto& range) { return range.second.isEmpty(); });
}

// Takes what is said of single symbols out of `assumptions`; nothing if it contradicts itself.
std::optional<Ranges> Solver::takeRanges(Assumptions& assumptions) {
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
  if (isConflict(ranges)) return std::nullopt;
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

// What holds when the assumption does, each by itself: of a conjunction its parts, without negations. Ascending.
const Assumptions& Solver::piecesOf(const Assumption& assumption) {
  const auto [known, is_new] = pieces_.try_emplace(assumption);
  if (!is_new) return known->second;
  std::vector<Assumption> left{assumption};
  std::set<Assumption> seen, pieces;
  while (!left.empty()) {
    const Assumption next = left.back();
    left.pop_back();
    if (!seen.insert(next).second) continue;
    const Term& term = terms_[next.predicate];
    if (term.op == TermOp::kXor && terms_.isConstant(term.b)) {
      left.push_back({term.a, next.holds != (terms_[term.b].value != 0)});
    } else if (term.op == (next.holds ? TermOp::kAnd : TermOp::kOr)) {
      left.push_back({term.a, next.holds});
      left.push_back({term.b, next.holds});
    } else {
      pieces.insert(next);
    }
  }
  known->second.assign(pieces.begin(), pieces.end());
  return known->second;
}

const Solver::Parted& Solver::partedOf(const Assumption& assumption) {
  const auto [known, is_new] = parted_.try_emplace(assumption);
  Parted& parted = known->second;
  if (!is_new) return parted;
  parted.pieces = piecesOf(assumption);
  std::optional<Ranges> ranges = takeRanges(parted.pieces);
  parted.is_conflict = !ranges;
  if (ranges) parted.ranges = std::move(*ranges);
  return parted;
}

void Solver::restrict(Ranges& ranges, const Ranges& further) const {
  for (const auto& [symbol, range] : further) {
    const auto [own, is_new] = ranges.try_emplace(symbol, range);
    if (!is_new && own->second.parts() != range.parts()) own->second = own->second.intersectedWith(range);
  }
}

// One of these holds when the assumption does.
Assumptions Solver::alternativesOf(const Assumption& assumption) {
  Assumptions alternatives = piecesOf({assumption.predicate, !assumption.holds});
  for (Assumption& alternative : alternatives) alternative.holds = !alternative.holds;
  return alternatives;
}

// kYes: their symbols in `model` get values that satisfy them.
Answer Solver::ask(const Assumptions& assumptions, Model& model) {
  for (std::size_t i = model.size(); i < terms_.symbols().size(); ++i) model.push_back(terms_.symbols()[i].low);
  Search question;
  for (const Assumption& assumption : assumptions) {
    const Parted& parted = partedOf(assumption);
    if (parted.is_conflict) return Answer::kNo;
    question.open.insert(question.open.end(), parted.pieces.begin(), parted.pieces.end());
    restrict(question.ranges, parted.ranges);
  }
  if (isConflict(question.ranges)) return Answer::kNo;
  std::sort(question.open.begin(), question.open.end());
  question.open.erase(std::unique(question.open.begin(), question.open.end()), question.open.end());
  // What cannot fail says nothing.
  std::erase_if(question.open, [&](const Assumption& piece) { return refutations_.cover({piece.predicate, !piece.holds}); });
  clamp(model, question.ranges);
  if (question.open.empty()) return Answer::kYes;
  if (const std::optional<Answer> answer = askBox(terms_, question.open, question.ranges, model)) return *answer;
  if (refutations_.cover(question.open, question.ranges)) return Answer::kNo;
  question.time = timeLeft();
  question.end = ThreadClock::now() + kQuestionTimes * question.time;
  const Answer answer = search(std::move(question), model, 0);
  was_cut_short_ |= answer == Answer::kUnknown;  // bit-vectors are decidable: it gives up for lack of time only
  return answer;
}

Answer Solver::search(Search question, Model& model, unsigned splits) {
  std::optional<Valuation> near_miss;
  const auto endWith = [&](Answer answer) {
    if (near_miss) keep(std::move(*near_miss), near_misses_);
    return answer;
  };
  while (true) {
    if (!question.chosen.empty()) {
      if (refutations_.cover(question.chosen, question.chosen_ranges)) return endWith(Answer::kNo);
      if (ThreadClock::now() >= question.end) return endWith(Answer::kUnknown);
      const Answer answer = check_(question.chosen, question.chosen_ranges, model, static_cast<unsigned>(question.time.count()));
      if (answer == Answer::kNo) refutations_.add(question.chosen, question.chosen_ranges);
      if (answer != Answer::kYes) return endWith(answer);
    }
    bool has_grown = false;
    for (const auto& [symbol, range] : question.ranges) {
      if (!range.contains(model[terms_[symbol].value])) has_grown |= question.chosen_ranges.try_emplace(symbol, range).second;
    }
    Valuation values(terms_, model);
    std::optional<Assumption> wide;
    Assumptions broken;
    for (const Assumption& piece : question.open) {
      if (isSatisfied(values, piece)) continue;
      if (splits < kMaxSplits && alternativesOf(piece).size() >= kMinAlternatives) {
        if (!wide) wide = piece;
      } else if (broken.size() < kMaxAdded) {
        broken.push_back(piece);
      }
    }
    if (!has_grown && broken.empty()) return wide ? split(*wide, question, model, splits) : Answer::kYes;
    const std::size_t before = question.chosen.size();
    if (!question.chosen.empty()) near_miss.emplace(std::move(values));
    question.add(broken);
    // The two differ about a division by zero.
    if (!has_grown && question.chosen.size() == before) return Answer::kUnknown;
  }
}

// All alternatives at once where that is quick, else one after the other.
Answer Solver::split(const Assumption& wide, const Search& question, Model& model, unsigned splits) {
  Search at_once = question;
  std::erase(at_once.open, wide);
  at_once.add({wide});
  at_once.time = kTimeAtOnce;
  at_once.end = std::min(question.end, ThreadClock::now() + kTimeAtOnce);
  Model candidate = model;
  const Answer quick = search(std::move(at_once), candidate, kMaxSplits);
  if (quick == Answer::kYes) model = std::move(candidate);
  return quick != Answer::kUnknown ? quick : splitByAlternative(wide, question, model, splits);
}

Answer Solver::splitByAlternative(const Assumption& wide, const Search& question, Model& model, unsigned splits) {
  const Assumptions alternatives = alternativesOf(wide);
  Answer answer = Answer::kNo;
  for (const Assumption& alternative : alternatives) {
    Search narrower = question;
    std::erase(narrower.open, wide);
    const Parted& parted = partedOf(alternative);
    restrict(narrower.ranges, parted.ranges);
    if (parted.is_conflict || isConflict(narrower.ranges)) continue;
    for (auto& [symbol, range] : narrower.chosen_ranges) range = narrower.ranges.at(symbol);
    narrower.add(parted.pieces);
    Model candidate = model;
    clamp(candidate, narrower.ranges);
    const Answer own = search(std::move(narrower), candidate, splits + 1);
    if (own == Answer::kYes) {
      model = std::move(candidate);
      return own;
    }
    if (own == Answer::kUnknown) answer = own;
  }
  if (std::all_of(alternatives.begin(), alternatives.end(), [&](const Assumption& a) { return refutations_.cover(a); })) {
    refutations_.add({wide}, {});
  }
  return answer;
}

// Values outside of their ranges become some that are within.
void Solver::clamp(Model& model, const Ranges& ranges) const {
  for (const auto& [symbol, range] : ranges) {
    std::uint64_t& word = model[terms_[symbol].value];
    if (!range.contains(word)) word = range.parts().front().first;
  }
}

}  // namespace handoff::symbolic
