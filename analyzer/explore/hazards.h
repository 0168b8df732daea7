// SPDX-License-Identifier: Apache-2.0
// wgmma-register-hazard: registers of asynchronous multiplications without the fence or the wait that they need.
#pragma once

#include "analyzer/diagnose/finding.h"
#include "analyzer/explore/repair.h"
#include "analyzer/machine/program.h"

namespace handoff::explore {

/// Adds a finding for each multiplication that lacks a wgmma.fence, and for each use of an accumulator that no wait covers.
/// A question of data flow: no launch is involved, and the findings hold for all of them.
/// With a repairer, each finding gets a repair if one can be found.
void reportRegisterHazards(const machine::Program& program, Repairer* repairer, diagnose::KernelReport& report);

}  // namespace handoff::explore
