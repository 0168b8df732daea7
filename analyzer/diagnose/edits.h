// SPDX-License-Identifier: Apache-2.0
// Candidate repairs: changes of the program that would add the missing order, or set right a count.
#pragma once

#include <vector>

#include "analyzer/diagnose/classify.h"
#include "analyzer/diagnose/diagnose.h"

namespace handoff::diagnose {

/// Best guess first. Whoever offers one must have run it (explore/repair).
std::vector<Edit> editsFor(const Run& run, const machine::Conflict& conflict, Cause cause);
std::vector<Edit> editsFor(const Run& run, const machine::Misuse& misuse);
std::vector<Edit> editsFor(const Run& run, const machine::Stuck& stuck);

}  // namespace handoff::diagnose
