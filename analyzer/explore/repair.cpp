// SPDX-License-Identifier: Apache-2.0
// Edits on the program, and their check.
#include "analyzer/explore/repair.h"

#include <algorithm>
#include <set>

#include "analyzer/machine/machine.h"

namespace handoff::explore {

using diagnose::Diagnosis;
using diagnose::Edit;

namespace {

constexpr std::size_t kMaxTries = 4;

void shiftTargets(ptx::Operand& operand, std::uint32_t at) {
  if (operand.kind == ptx::Operand::Kind::kLabel && operand.target > at) ++operand.target;
  for (ptx::Operand& element : operand.elements) shiftTargets(element, at);
}

ptx::Operand immediate(std::int64_t value) {
  ptx::Operand operand;
  operand.kind = ptx::Operand::Kind::kImmediate;
  operand.imm = value;
  return operand;
}

/// What a finding is about, in terms that survive an insertion.
using Key = std::tuple<std::string, std::uint32_t, std::uint32_t>;

Key keyOf(const Diagnosis& diagnosis, const Edit* applied) {
  const auto original = [&](std::uint32_t instr) {
    const bool shifted = applied != nullptr && applied->kind == Edit::Kind::kInsertBefore && instr > applied->at;
    return shifted ? instr - 1 : instr;
  };
  return {diagnosis.finding.rule, original(diagnosis.primary_instr), original(diagnosis.secondary_instr)};
}

}  // namespace

ptx::Function applyEdit(const ptx::Function& function, const Edit& edit) {
  ptx::Function changed = function;
  if (edit.at >= changed.instructions.size()) return changed;
  if (edit.kind == Edit::Kind::kSetImmediate) {
    if (!changed.instructions[edit.at].operands.empty()) changed.instructions[edit.at].operands[0] = immediate(edit.immediate);
    return changed;
  }
  for (ptx::Instruction& instr : changed.instructions) {
    for (ptx::Operand& operand : instr.operands) shiftTargets(operand, edit.at);
  }
  for (ptx::BranchTable& table : changed.branch_tables) {
    for (ptx::InstrIndex& target : table.targets) target += target > edit.at ? 1 : 0;
  }
  for (ptx::Label& label : changed.labels) label.target += label.target > edit.at ? 1 : 0;
  ptx::Instruction inserted;
  inserted.opcode = edit.opcode;
  inserted.decoded = &ptx::decode(edit.opcode);
  inserted.loc = changed.instructions[edit.at].loc;
  if (edit.has_immediate) inserted.operands.push_back(immediate(edit.immediate));
  changed.instructions.insert(changed.instructions.begin() + edit.at, std::move(inserted));
  return changed;
}

std::optional<diagnose::Repair> tryRepairs(const diagnose::Run& run, const machine::RunOptions& options,
                                           const Diagnosis& diagnosis, const std::vector<Diagnosis>& all) {
  std::set<Key> before;
  for (const Diagnosis& other : all) before.insert(keyOf(other, nullptr));
  std::size_t tries = 0;
  for (const Edit& edit : diagnosis.edits) {
    if (++tries > kMaxTries) break;
    ptx::Module module = *run.program.module;
    module.functions.clear();
    module.locations = run.program.locations;
    const ptx::Function changed = applyEdit(run.program.function, edit);
    const Result<machine::Program> program = machine::buildProgram(module, changed);
    if (!program) continue;
    const machine::Outcome outcome = machine::run(*program, run.launch, options);
    const diagnose::Run repaired{*program, run.launch, outcome, run.names};
    bool helps = true;
    for (const Diagnosis& left : diagnose::diagnose(repaired)) {
      const Key key = keyOf(left, &edit);
      helps &= before.contains(key) && key != keyOf(diagnosis, nullptr);
    }
    if (!helps) continue;
    const std::uint32_t at = std::min<std::uint32_t>(edit.at, static_cast<std::uint32_t>(run.program.function.instructions.size() - 1));
    return diagnose::Repair{edit.description, run.program.stackOf(at), edit.source_text};
  }
  return std::nullopt;
}

}  // namespace handoff::explore
