// SPDX-License-Identifier: Apache-2.0
// Kernels are known again by their mangled names.
#include "analyzer/explore/missing_kernels.h"

#include <algorithm>

#include "analyzer/diagnose/names.h"
#include "analyzer/explore/scenario.h"

namespace handoff::explore {

void reportMissingKernels(const frontend::Unit& unit, const Options& options, std::vector<diagnose::KernelReport>& reports) {
  for (const frontend::KernelDecl& decl : unit.kernels) {
    const bool is_there = std::any_of(unit.module.functions.begin(), unit.module.functions.end(), [&](const auto& f) {
      return f.is_kernel && !f.is_declaration && isSameKernel(f.name, decl.name);
    });
    if (is_there || !diagnose::isNamed(decl.name, options.kernel_filter)) continue;
    diagnose::KernelReport report;
    report.name = decl.name;
    report.pretty = decl.pretty;
    report.pos = decl.pos;
    report.verdict = diagnose::Verdict::kError;
    report.error = decl.untrusted ? decl.untrusted->message : "the kernel is missing from the PTX";
    reports.push_back(std::move(report));
  }
}

}  // namespace handoff::explore
