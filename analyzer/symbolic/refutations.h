// SPDX-License-Identifier: Apache-2.0
// What cannot hold together, as far as it was found out.
#pragma once

#include <optional>
#include <unordered_map>
#include <vector>

#include "analyzer/symbolic/assumption.h"

namespace handoff::symbolic {

class Refutations {
 public:
  explicit Refutations(const Terms& terms) : terms_(terms) {}

  /// `assumptions` must not be empty.
  void add(const Assumptions& assumptions, const Ranges& ranges);
  /// Does some of what was refuted follow from this? Symbols without a range keep to their bounds.
  bool cover(const Assumptions& assumptions, const Ranges& ranges) const;
  bool cover(const Assumption& alone) const { return cover(Assumptions{alone}, {}); }

 private:
  /// An assumption; of comparisons of one term with constants the one with the higher bar says more.
  struct Part {
    std::uint64_t key = 0;   ///< equal for such comparisons
    std::uint64_t bar = 0;
  };
  struct Refuted {
    std::vector<Part> parts;   ///< by key, each once
    Ranges ranges;
  };

  Part partOf(const Assumption& assumption) const;
  std::vector<Part> partsOf(const Assumptions& assumptions) const;

  const Terms& terms_;
  std::unordered_map<std::uint64_t, std::vector<Refuted>> by_first_;
};

}  // namespace handoff::symbolic
