// SPDX-License-Identifier: Apache-2.0
// Pictures of a kernel: of each finding the run that shows it, and of a kernel without violations one run of
// it.
#pragma once

#include <vector>

#include "analyzer/diagnose/finding.h"
#include "analyzer/explore/repair.h"
#include "analyzer/explore/scenario.h"

namespace handoff::explore {

/// Runs again what showed the findings. `shown` are the first findings of the report, in its order.
void addFindingPictures(const machine::Program& program, const std::vector<Input>& inputs,
                        const std::vector<Repairer::Open>& shown, diagnose::KernelReport& report);

/// The slots of the kernel over time, under this scenario.
void addKernelPicture(const machine::Program& program, const Scenario& scenario,
                      diagnose::KernelReport& report);

}  // namespace handoff::explore
