// SPDX-License-Identifier: Apache-2.0
// Conflicts with reads whose values go nowhere.
#pragma once

#include <functional>

#include "analyzer/machine/machine.h"

namespace handoff::explore {

/// Drops them: they are no defect. `whole` makes the program that leaves nothing out, or null.
void dropUnusedReads(const machine::Program& program, const machine::Launch& launch, const machine::RunOptions& options,
                     const std::function<const machine::Program*()>& whole, machine::Outcome& outcome);

}  // namespace handoff::explore
