// SPDX-License-Identifier: Apache-2.0
// Every operator at every statement.
#include "analyzer/mutate/mutants.h"

#include <algorithm>
#include <set>

#include "analyzer/explore/scenario.h"

namespace handoff::mutate {

std::vector<Mutant> mutantsOf(const Subject& subject) {
  std::vector<Mutant> mutants;
  std::set<std::uint32_t> conditions;
  for (std::uint32_t instr = 0; instr < subject.size(); ++instr) {
    if (!subject.statements.hasEffect(instr)) continue;
    const std::vector<std::uint32_t> twins = subject.statements.twinsOf(instr);
    if (*std::min_element(twins.begin(), twins.end()) != instr) continue;  // the statement was changed at its first copy
    for (std::uint32_t op = 0; op < operators().size(); ++op) {
      std::vector<diagnose::Edit> edits;
      operators()[op].propose(subject, instr, edits);
      for (diagnose::Edit& edit : edits) {
        // One condition around several copies is one change.
        const std::uint32_t changed = edit.changes.front().at;
        if (changed != instr && !conditions.insert(changed).second) continue;
        if (!explore::applyEdit(subject.program, subject.statements, edit)) continue;
        const SourceStack& stack = subject.program.stackOf(instr);
        const std::size_t frame = std::min(subject.statements.frameOf(instr), stack.size());
        mutants.push_back({op, instr, std::move(edit), {stack.begin() + static_cast<std::ptrdiff_t>(frame), stack.end()}});
      }
    }
  }
  return mutants;
}

frontend::Unit mutate(const frontend::Unit& unit, const machine::Program& program, const explore::Edited& edited) {
  frontend::Unit mutated = unit;
  mutated.module.locations = program.locations;
  mutated.module.functions = {edited.function};
  std::erase_if(mutated.kernels, [&](const frontend::KernelDecl& decl) { return !explore::isSameKernel(decl.name, edited.function.name); });
  return mutated;
}

}  // namespace handoff::mutate
