// SPDX-License-Identifier: Apache-2.0
// Where a kernel goes by a pointer itself (is it null, is it aligned, how far is it from another), not by what it leads to.
#pragma once

#include <vector>

#include "analyzer/explore/scenario.h"
#include "analyzer/machine/program.h"

namespace handoff::explore {

/// Pointers that the kernel compares with null, by their places in the parameter window: both cases are run.
std::vector<std::uint64_t> nullablePointers(const machine::Program& program, const Scenario& scenario);

/// A run has one value for each pointer parameter of the scenario. What else a pointer may be, such as null, these
/// instructions of the protocol would do something else for. Comparisons with null are none of them.
std::vector<machine::Program::Limit> pointerUses(const machine::Program& program, const Scenario& scenario);

}  // namespace handoff::explore
