// SPDX-License-Identifier: Apache-2.0
#include "analyzer/symbolic/refutations.h"

#include <algorithm>

namespace handoff::symbolic {

namespace {

bool isWithin(const Ranges& ranges, const Ranges& wider) {
  return std::all_of(wider.begin(), wider.end(), [&](const auto& wide) {
    const auto own = ranges.find(wide.first);
    return own != ranges.end() && own->second.intersectedWith(wide.second).parts() == own->second.parts();
  });
}

}  // namespace

void Refutations::add(const Assumptions& assumptions, const Ranges& ranges) {
  by_first_[keyOf(assumptions.front())].push_back({{assumptions.begin() + 1, assumptions.end()}, ranges});
}

bool Refutations::cover(const Assumptions& assumptions, const Ranges& ranges) const {
  for (auto first = assumptions.begin(); first != assumptions.end(); ++first) {
    const auto found = by_first_.find(keyOf(*first));
    if (found == by_first_.end()) continue;
    for (const Refuted& refuted : found->second) {
      if (std::includes(first, assumptions.end(), refuted.others.begin(), refuted.others.end()) && isWithin(ranges, refuted.ranges)) return true;
    }
  }
  return false;
}

}  // namespace handoff::symbolic
