// SPDX-License-Identifier: Apache-2.0
// Which copies of a call go together: by group or phase, with the place that they fill and the wait that
// covers them.
#pragma once

#include <cstdint>

#include "analyzer/audit/lowering.h"
#include "analyzer/diagnose/names.h"
#include "analyzer/machine/launch.h"
#include "analyzer/machine/program.h"

namespace handoff::audit {

/// Runs the kernel once and fills in Call::batches. `whole`: with every instruction kept
/// (machine::buildWholeProgram).
void addBatches(const machine::Program& whole, const machine::Launch& launch, const diagnose::Names& names,
                std::uint64_t max_steps, Lowered& lowered);

}  // namespace handoff::audit
