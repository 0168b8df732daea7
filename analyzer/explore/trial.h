// SPDX-License-Identifier: Apache-2.0
// A kernel that is tried and not reported: a variant of another one.
#pragma once

#include <vector>

#include "analyzer/explore/analyze.h"

namespace handoff::witness {
struct Repaired;
}

namespace handoff::explore {

struct Trial {
  const witness::Repaired* reference = nullptr;  ///< what jobs compare the kernel with; null: what its repair makes of it
  bool stops_at_finding = false;                 ///< one error or warning is enough: others are not looked for
};

/// As analyze(unit, options).
std::vector<diagnose::KernelReport> analyze(const frontend::Unit& unit, const Options& options, const Trial& trial);

}  // namespace handoff::explore
