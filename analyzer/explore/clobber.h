// SPDX-License-Identifier: Apache-2.0
// missing-clobber: inline-asm synchronisation that the compiler may move memory accesses across.
#pragma once

#include "analyzer/diagnose/finding.h"
#include "analyzer/frontend/unit.h"
#include "analyzer/machine/program.h"

namespace handoff::explore {

/// Adds a note for each inline-asm wait, commit, barrier or arrive of this kernel that lacks `volatile` or a "memory"
/// clobber.
void reportMissingClobbers(const frontend::Unit& unit, const machine::Program& program, diagnose::KernelReport& report);

}  // namespace handoff::explore
