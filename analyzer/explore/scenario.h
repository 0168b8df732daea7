// SPDX-License-Identifier: Apache-2.0
// Which launches to run, from what the unit and the user say; what nobody says is assumed and named.
#pragma once

#include <string>
#include <vector>

#include "analyzer/diagnose/finding.h"
#include "analyzer/diagnose/names.h"
#include "analyzer/explore/analyze.h"
#include "analyzer/frontend/unit.h"
#include "analyzer/machine/launch.h"
#include "analyzer/machine/program.h"

namespace handoff::explore {

struct Scenario {
  machine::Launch launch;
  diagnose::Names names;
  std::string text;                          ///< for KernelReport::launches
  std::vector<diagnose::Limit> assumptions;  ///< values that nothing fixes
};

/// True for names that differ only in the `L` that Clang gives kernels of internal linkage.
bool isSameKernel(std::string_view a, std::string_view b);

/// At least one. Sources, first that applies: Options::launches, "// handoff: launch ..." above the kernel, launch
/// sites of the unit, launch bounds, defaults. What the kernel itself requires (.reqntid, .reqnctapercluster,
/// __cluster_dims__) comes before all of them; boxes of tensor maps are in tensor_maps.h.
std::vector<Scenario> scenariosFor(const frontend::Unit& unit, const frontend::KernelDecl* decl,
                                   const machine::Program& program, const Options& options);

}  // namespace handoff::explore
