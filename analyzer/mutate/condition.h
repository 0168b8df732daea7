// SPDX-License-Identifier: Apache-2.0
// The condition under which an instruction is executed.
#pragma once

#include <cstdint>
#include <optional>

#include "analyzer/mutate/operators.h"

namespace handoff::mutate {

struct Condition {
  std::uint32_t branch = 0;  ///< the first copy of its statement
  bool if_taken = false;     ///< the instruction comes where the branch is taken; else where it is not
};

/// The innermost condition around the instruction that is a predicate: a guarded jump to a label, on whose outcome the
/// instruction depends, and whose two ways meet again in the same turn of the loop around it.
///
/// What decides whether a loop goes on is none: not the test of a turn, nor the test before the first turn, which is the
/// same statement of the source, nor a `break`. In PTX without positions, the latter test is like any other condition.
std::optional<Condition> conditionOf(const Subject& subject, std::uint32_t instr);

}  // namespace handoff::mutate
