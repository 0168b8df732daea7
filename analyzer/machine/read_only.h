// SPDX-License-Identifier: Apache-2.0
// Loads of memory that no thread of the kernel can write: what they bring was there when the kernel started, and is the
// same for whoever loads it.
#pragma once

#include "analyzer/machine/program.h"

namespace handoff::machine {

/// The loads among these that are so. `whole` is a program that leaves nothing out (buildWholeProgram).
Instructions readOnlyLoads(const Program& whole, const Instructions& loads);

}  // namespace handoff::machine
