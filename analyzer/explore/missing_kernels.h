// SPDX-License-Identifier: Apache-2.0
// Kernels that the source declares and the PTX lacks.
#pragma once

#include <vector>

#include "analyzer/explore/analyze.h"

namespace handoff::explore {

/// Appends an error for each of them that the options choose.
void reportMissingKernels(const frontend::Unit& unit, const Options& options, std::vector<diagnose::KernelReport>& reports);

}  // namespace handoff::explore
