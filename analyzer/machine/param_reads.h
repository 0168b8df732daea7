// SPDX-License-Identifier: Apache-2.0
// Which scalars of the kernel's parameters the slice reads, and which of them are pointers.
#pragma once

#include <vector>

#include "analyzer/machine/program.h"
#include "analyzer/machine/slice.h"

namespace handoff::machine {

/// Sorted, without duplicates. A 64-bit read counts as a pointer when the parameter carries ".ptr", or when its value
/// is the base of an address computation.
std::vector<ParamRead> findParamReads(const ptx::Function& function, const Slice& slice);

}  // namespace handoff::machine
