// SPDX-License-Identifier: Apache-2.0
// What would have ordered the two accesses of a conflict, in the few words that fit on an edge.
#pragma once

#include <string>

#include "analyzer/diagnose/classify.h"
#include "analyzer/diagnose/diagnose.h"

namespace handoff::picture {

/// "no cp.async.wait_group covers group 3".
std::string missingOrder(const diagnose::Run& run, const machine::Conflict& conflict, diagnose::Cause cause);

}  // namespace handoff::picture
