// SPDX-License-Identifier: Apache-2.0
// What cannot hold together, as far as it was found out.
#pragma once

#include <unordered_map>
#include <utility>
#include <vector>

#include "analyzer/symbolic/assumption.h"

namespace handoff::symbolic {

class Refutations {
 public:
  /// `assumptions` ascending and not empty.
  void add(const Assumptions& assumptions, const Ranges& ranges);
  /// Is some of what was refuted part of this? `assumptions` ascending; symbols without a range keep to their bounds.
  bool cover(const Assumptions& assumptions, const Ranges& ranges) const;
  bool cover(const Assumption& alone) const { return cover(Assumptions{alone}, {}); }

 private:
  struct Refuted {
    Assumptions others;   ///< beside the first
    Ranges ranges;
  };
  static std::uint64_t keyOf(const Assumption& assumption) { return std::uint64_t{assumption.predicate} << 1 | (assumption.holds ? 1 : 0); }

  std::unordered_map<std::uint64_t, std::vector<Refuted>> by_first_;
};

}  // namespace handoff::symbolic
