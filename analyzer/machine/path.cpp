// SPDX-License-Identifier: Apache-2.0
// The decisions of a run, and the periods of its states.
#include "analyzer/machine/path.h"

#include <string>

namespace handoff::machine {

const char* toString(StatePart part) {
  switch (part) {
    case StatePart::kControl: return "where the threads are";
    case StatePart::kShared: return "who wrote and read the slots in shared memory";
    case StatePart::kBarriers: return "the state of a barrier";
    case StatePart::kGroups: return "the groups that are pending";
    case StatePart::kClocks: return "what the threads know of each other";
    case StatePart::kContents: return "the contents of shared or local memory";
  }
  return "";
}

void PathLog::clear() {
  decisions.clear();
  boundaries.clear();
  applied.clear();
  returned.clear();
  base_terms.clear();
  registers_of.clear();
  known_.clear();
  has_decided_ = false;
}

// Of a probe only the states count where its closure may apply or return.
bool PathLog::needsState() const {
  if (!states_from) return true;
  if (!returned.empty()) return false;
  return applied.empty() ? boundaries.size() >= *states_from : boundaries.size() == applied.front().boundary + closures.front()->length;
}

void PathLog::add(const Decision& decision) {
  Decision one = decision;
  if (one.kind != Decision::Kind::kAccess) has_decided_ = true;
  if (terms_.isConstant(one.condition)) return;
  if (!terms_[one.condition].has_lanes) {
    one.truth = (one.truth & one.lanes) != 0 ? 1 : 0;
    one.lanes = 1;
  }
  // Accesses in several places may go by one condition, and some of them lie within others.
  const int place = one.kind == Decision::Kind::kAccess ? 8 + static_cast<int>(one.instr) : static_cast<int>(one.kind);
  const auto key = std::tuple(one.condition, one.lanes, one.truth, place);
  if (known_.emplace(key, true).second) decisions.push_back(one);
}

std::optional<SymbolicInputs::Word> PathLog::wordAt(TermId address, std::uint32_t bytes) {
  constexpr std::size_t kMaxWords = 8;
  constexpr std::uint64_t kAssumedNumber = 512;  // as for sizes
  for (const SymbolicInputs::Word& word : inputs_.words) {
    if (word.address == address && word.bytes == bytes) return word;
  }
  if (inputs_.words.size() == kMaxWords) return std::nullopt;
  const std::string name = "word" + std::to_string(inputs_.words.size());
  inputs_.words.push_back({.address = address, .bytes = bytes,
                           .symbol = terms_.symbol(name, 8 * bytes, 0, symbolic::widthMask(8 * bytes)),
                           .assumed = bytes >= 4 ? kAssumedNumber : 1});
  return inputs_.words.back();
}

std::uint64_t PathLog::valueOf(const SymbolicInputs::Word& word) const {
  const std::size_t index = terms_[word.symbol].value;
  return index < values_.size() ? values_[index] : word.assumed;
}

std::optional<std::vector<RegisterStep>> stepsBetween(symbolic::Terms& terms, const std::vector<PathLog::Register>& registers,
                                                      const Boundary& from, const Boundary& to) {
  if (from.words.size() != to.words.size() || from.words.empty() != registers.empty()) return std::nullopt;
  std::vector<RegisterStep> steps;
  for (std::size_t r = 0; r < registers.size(); ++r) {
    const PathLog::Register& reg = registers[r];
    const std::uint64_t mask = symbolic::widthMask(reg.width);
    RegisterStep step{reg.warp, reg.slot, {}};
    bool moves = false;
    if (from.terms[r] != to.terms[r]) {
      if (from.terms[r] == 0 || to.terms[r] == 0) return std::nullopt;
      if (terms[from.terms[r]].width != terms[to.terms[r]].width) return std::nullopt;
      for (unsigned lane = 0; lane < kWarpSize; ++lane) {
        const TermId difference = terms.subtract(terms.ofLane(to.terms[r], lane), terms.ofLane(from.terms[r], lane));
        if (!terms.isConstant(difference)) return std::nullopt;
        step.delta[lane] = terms[difference].value;
      }
      moves = true;
    } else if (from.terms[r] == 0) {
      for (unsigned lane = 0; lane < kWarpSize; ++lane) {
        step.delta[lane] = (to.words[r * kWarpSize + lane] - from.words[r * kWarpSize + lane]) & mask;
        moves |= step.delta[lane] != 0;
      }
    }
    if (!moves) continue;
    if (reg.width < 16) return std::nullopt;  // predicates and flags come back, or the state has not
    steps.push_back(step);
  }
  return steps;
}

std::vector<Period> findPeriods(const PathLog& log, std::size_t from, std::size_t most) {
  std::vector<Period> periods;
  const auto& all = log.boundaries;
  for (std::size_t length = 1; from + 2 * length < all.size() && periods.size() < most; ++length) {
    for (std::size_t first = from; first + 2 * length < all.size(); ++first) {
      const Boundary &a = all[first], &b = all[first + length], &c = all[first + 2 * length];
      if (a.state != b.state || b.state != c.state) continue;
      const auto known = log.registers_of.find(a.state);
      if (known == log.registers_of.end()) continue;
      auto one = stepsBetween(log.terms(), known->second, a, b);
      if (!one || stepsBetween(log.terms(), known->second, b, c) != one) continue;
      periods.push_back({first, length, std::move(*one)});
      break;
    }
  }
  return periods;
}

}  // namespace handoff::machine
