// SPDX-License-Identifier: Apache-2.0
// Findings that follow from others.
#pragma once

#include "analyzer/diagnose/finding.h"

namespace handoff::explore {

/// Takes out what may be brought about by another finding of the report.
void dropConsequences(diagnose::KernelReport& report);

}  // namespace handoff::explore
