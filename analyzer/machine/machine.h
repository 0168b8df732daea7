// SPDX-License-Identifier: Apache-2.0
// Runs one CTA of a kernel and reports every pair of accesses that nothing orders.
#pragma once

#include "analyzer/machine/launch.h"
#include "analyzer/machine/outcome.h"
#include "analyzer/machine/program.h"

namespace handoff::machine {

/// Executes `program` under `launch` on one canonical schedule. The verdict does not depend on that schedule as long
/// as the run reports no misuse of a barrier (docs/soundness.md, "One schedule stands for all").
Outcome run(const Program& program, const Launch& launch, const RunOptions& options = {});

}  // namespace handoff::machine
