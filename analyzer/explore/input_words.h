// SPDX-License-Identifier: Apache-2.0
// Words in global memory by which the protocol goes, taken as inputs (docs/decisions/0012-words-as-inputs.md).
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>

#include "analyzer/explore/scenario.h"
#include "analyzer/machine/path.h"

namespace handoff::explore {

/// The scenario with these words in memory, named like parameters.
Scenario withWords(Scenario scenario, const machine::Program& program, const std::map<std::uint64_t, machine::Word>& words);

/// How many different conditions on words a run has decided.
std::size_t countWordConditions(const machine::PathLog& log);

/// `known`, and the loads of each set of `wanted` of which all can be inputs.
machine::Instructions inputWords(const ptx::Module& module, const ptx::Function& kernel,
                                 const std::set<machine::Instructions>& wanted, const machine::Instructions& known);

}  // namespace handoff::explore
