// SPDX-License-Identifier: Apache-2.0
// Whether the threads of a launch can be run at all within the memory that the user gives.
#pragma once

#include <string>

#include "analyzer/machine/launch.h"
#include "analyzer/machine/program.h"

namespace handoff::explore {

/// Why not; empty: their registers and local memory fit.
std::string whyTooLarge(const machine::Program& program, const machine::Launch& launch, unsigned max_memory_mb);

}  // namespace handoff::explore
