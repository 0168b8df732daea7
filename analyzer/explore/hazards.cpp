// SPDX-License-Identifier: Apache-2.0
// The findings behind hazards.h.
#include "analyzer/explore/hazards.h"

#include <algorithm>
#include <set>
#include <string>

#include "analyzer/machine/register_hazards.h"

namespace handoff::explore {

namespace {

std::string userLine(const SourceStack& stack, std::uint32_t instr) {
  return stack.empty() ? "#" + std::to_string(instr) : stack.back().pos.file + ":" + std::to_string(stack.back().pos.line);
}

diagnose::Change insertBefore(std::uint32_t at, std::string opcode) {
  diagnose::Change change;
  change.at = at;
  change.opcode = std::move(opcode);
  return change;
}

std::vector<diagnose::Edit> editsFor(const machine::Program& program, const machine::RegisterHazard& hazard) {
  if (hazard.kind == machine::RegisterHazard::Kind::kNoFence) {
    return {{{insertBefore(hazard.mma_instr, "wgmma.fence.sync.aligned")}, "insert wgmma.fence"}};
  }
  std::vector<diagnose::Edit> edits;
  diagnose::Change wait = insertBefore(hazard.access_instr, "wgmma.wait_group.sync.aligned");
  wait.operands.emplace_back().kind = ptx::Operand::Kind::kImmediate;
  for (std::uint32_t i = 0; i < program.function.instructions.size(); ++i) {
    if (!program.function.instructions[i].opcode.starts_with("wgmma.wait_group")) continue;
    diagnose::Change all;
    all.kind = diagnose::Change::Kind::kSetOperand;
    all.at = i;
    edits.push_back({{all}, "wait for all groups: wgmma.wait_group 0"});
    edits.push_back({{insertBefore(i, "wgmma.commit_group.sync.aligned")}, "insert wgmma.commit_group"});
  }
  edits.push_back({{wait}, "insert wgmma.wait_group 0"});
  edits.push_back({{insertBefore(hazard.access_instr, "wgmma.commit_group.sync.aligned"), wait},
                   "insert wgmma.commit_group and wgmma.wait_group 0"});
  return edits;
}

/// The changed program has no hazard but those that were there, and not this one.
bool isWithout(const Edited& edited, const machine::RegisterHazard& hazard, const std::vector<machine::RegisterHazard>& known) {
  for (machine::RegisterHazard left : machine::findRegisterHazards(edited.function)) {
    left.mma_instr = edited.origin[left.mma_instr];
    left.access_instr = edited.origin[left.access_instr];
    if (left == hazard || std::find(known.begin(), known.end(), left) == known.end()) return false;
  }
  return true;
}

}  // namespace

void reportRegisterHazards(const machine::Program& program, Repairer* repairer, diagnose::KernelReport& report) {
  using Kind = machine::RegisterHazard::Kind;
  if (!machine::canFindRegisterHazards(program.function)) {
    report.limits.push_back({"the kernel is too large to check the registers of its wgmma instructions", report.pos});
  }
  std::set<std::pair<Kind, std::string>> told;
  const std::vector<machine::RegisterHazard> all = machine::findRegisterHazards(program.function);
  for (const machine::RegisterHazard& hazard : all) {
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
    if (repairer != nullptr) {
      Repairer::Open open;
      open.diagnosis.finding.rule = finding.rule;
      open.diagnosis.edits = editsFor(program, hazard);
      open.is_gone = [&](const Edited& edited) { return isWithout(edited, hazard, all); };
      finding.repair = repairer->repairAll({std::move(open)}).front();
    }
    report.findings.push_back(std::move(finding));
  }
}

}  // namespace handoff::explore
