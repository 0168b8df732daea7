// SPDX-License-Identifier: Apache-2.0
#include "analyzer/symbolic/refutations.h"

#include <algorithm>

#include "analyzer/symbolic/fold.h"

namespace handoff::symbolic {

namespace {

bool isWithin(const Ranges& ranges, const Ranges& wider) {
  return std::all_of(wider.begin(), wider.end(), [&](const auto& wide) {
    const auto own = ranges.find(wide.first);
    return own != ranges.end() && own->second.intersectedWith(wide.second).parts() == own->second.parts();
  });
}

}  // namespace

Refutations::Part Refutations::partOf(const Assumption& assumption) const {
  const Term& term = terms_[assumption.predicate];
  const bool is_signed = term.op == TermOp::kSignedLess;
  const std::uint64_t holds = assumption.holds ? 1 : 0;
  if ((!is_signed && term.op != TermOp::kUnsignedLess) || !terms_.isConstant(term.b)) {
    return {std::uint64_t{assumption.predicate} << 3 | holds, 0};
  }
  // In the order of the comparison; what is below less says more.
  const Term& limit = terms_[term.b];
  const std::uint64_t place = is_signed ? limit.value ^ signBit(limit.width) : limit.value;
  return {std::uint64_t{term.a} << 3 | 4 | (is_signed ? 2 : 0) | holds, assumption.holds ? ~place : place};
}

std::vector<Refutations::Part> Refutations::partsOf(const Assumptions& assumptions) const {
  std::vector<Part> parts;
  parts.reserve(assumptions.size());
  for (const Assumption& assumption : assumptions) parts.push_back(partOf(assumption));
  std::sort(parts.begin(), parts.end(), [](const Part& a, const Part& b) { return a.key != b.key ? a.key < b.key : a.bar > b.bar; });
  parts.erase(std::unique(parts.begin(), parts.end(), [](const Part& a, const Part& b) { return a.key == b.key; }), parts.end());
  return parts;
}

void Refutations::add(const Assumptions& assumptions, const Ranges& ranges) {
  std::vector<Part> parts = partsOf(assumptions);
  by_first_[parts.front().key].push_back({std::move(parts), ranges});
}

bool Refutations::cover(const Assumptions& assumptions, const Ranges& ranges) const {
  const std::vector<Part> parts = partsOf(assumptions);
  for (auto first = parts.begin(); first != parts.end(); ++first) {
    const auto found = by_first_.find(first->key);
    if (found == by_first_.end()) continue;
    for (const Refuted& refuted : found->second) {
      auto at = first;
      const auto isImplied = [&](const Part& part) {
        at = std::lower_bound(at, parts.end(), part.key, [](const Part& own, std::uint64_t key) { return own.key < key; });
        return at != parts.end() && at->key == part.key && at->bar >= part.bar;
      };
      if (std::all_of(refuted.parts.begin(), refuted.parts.end(), isImplied) && isWithin(ranges, refuted.ranges)) return true;
    }
  }
  return false;
}

}  // namespace handoff::symbolic
