// SPDX-License-Identifier: Apache-2.0
// The steps that lead to a conflict, read off the event log.
#pragma once

#include <vector>

#include "analyzer/diagnose/diagnose.h"

namespace handoff::diagnose {

/// What the two threads did between the first and the second access, both included: at most 12 steps, the middle cut.
std::vector<Step> traceOf(const Run& run, machine::Access first, machine::Access second);

/// "commits group 2", "waits until at most 1 group is pending".
std::string describe(const Run& run, machine::EventId event, unsigned lane);

}  // namespace handoff::diagnose
