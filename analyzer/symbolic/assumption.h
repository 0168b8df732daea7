// SPDX-License-Identifier: Apache-2.0
// What a question about terms assumes.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "analyzer/symbolic/intervals.h"
#include "analyzer/symbolic/term.h"

namespace handoff::symbolic {

enum class Answer : std::uint8_t { kNo, kYes, kUnknown };

/// A predicate of one lane (Terms::ofLane), or that it does not hold.
struct Assumption {
  TermId predicate = 0;
  bool holds = true;
  friend auto operator<=>(const Assumption&, const Assumption&) = default;
};
using Assumptions = std::vector<Assumption>;

/// What a symbol may be; symbols that are not in it keep to their bounds.
using Ranges = std::map<TermId, Intervals>;

}  // namespace handoff::symbolic
