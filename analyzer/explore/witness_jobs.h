// SPDX-License-Identifier: Apache-2.0
// Witness jobs of a kernel's findings: what the unit says about parameters, and the kernel as the repair
// leaves it.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "analyzer/diagnose/diagnose.h"
#include "analyzer/explore/statement.h"
#include "analyzer/frontend/unit.h"
#include "analyzer/witness/job.h"

namespace handoff::explore {

class WitnessJobs {
 public:
  /// `statements`: of the program; null: no repair was tried. `reference`: what jobs compare the kernel with instead of
  /// its repair; null for none.
  WitnessJobs(const frontend::Unit& unit, const ptx::Function& kernel, const frontend::KernelDecl* decl,
              const machine::Program& program, const Statements* statements, const witness::Repaired* reference = nullptr);

  std::shared_ptr<const diagnose::WitnessJob> make(const diagnose::Diagnosis& diagnosis,
                                                   const diagnose::Finding& finding,
                                                   const machine::Launch& launch) const;

  /// For a kernel without findings. `assumed_boxes`: Outcome::assumed_boxes of a run with this launch.
  std::shared_ptr<const diagnose::WitnessJob> makeControl(
      const machine::Launch& launch, const std::map<std::uint64_t, std::uint64_t>& assumed_boxes) const;

 private:
  const machine::Program& program_;
  const Statements* statements_;
  const witness::Repaired* reference_;
  std::vector<witness::Parameter> parameters_;
};

}  // namespace handoff::explore
