// SPDX-License-Identifier: Apache-2.0
// The findings behind hazards.h.
#include "analyzer/explore/hazards.h"

#include <set>
#include <string>

#include "analyzer/machine/register_hazards.h"

namespace handoff::explore {

namespace {

std::string userLine(const SourceStack& stack, std::uint32_t instr) {
  return stack.empty() ? "#" + std::to_string(instr) : stack.back().pos.file + ":" + std::to_string(stack.back().pos.line);
}

}  // namespace

void reportRegisterHazards(const machine::Program& program, diagnose::KernelReport& report) {
  using Kind = machine::RegisterHazard::Kind;
  if (!machine::canFindRegisterHazards(program.function)) {
    report.limits.push_back({"the kernel is too large to check the registers of its wgmma instructions", report.pos});
  }
  std::set<std::pair<Kind, std::string>> told;
  for (const machine::RegisterHazard& hazard : machine::findRegisterHazards(program.function)) {
    const bool lacks_fence = hazard.kind == Kind::kNoFence;
    const std::uint32_t at = lacks_fence ? hazard.mma_instr : hazard.access_instr;
    if (!told.insert({hazard.kind, userLine(program.stackOf(at), at)}).second) continue;
    diagnose::Finding finding;
    finding.rule = "wgmma-register-hazard";
    finding.severity = diagnose::Severity::kError;
    finding.stack = program.stackOf(at);
    if (lacks_fence) {
      finding.message = hazard.access_instr == hazard.mma_instr
                            ? "the first multiplication of a path has no wgmma.fence before it"
                            : "a register of this multiplication is written, and no wgmma.fence stands between";
      if (hazard.access_instr != hazard.mma_instr) {
        finding.related.push_back({"it is written here", program.stackOf(hazard.access_instr)});
      }
    } else {
      finding.message = "an accumulator is read while the multiplication into it may still be in flight: "
                        "no wgmma.wait_group on some path covers it";
      finding.related.push_back({"the multiplication is started here", program.stackOf(hazard.mma_instr)});
    }
    report.findings.push_back(std::move(finding));
  }
}

}  // namespace handoff::explore
