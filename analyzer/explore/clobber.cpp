// SPDX-License-Identifier: Apache-2.0
// The check behind clobber.h.
#include "analyzer/explore/clobber.h"

#include <set>
#include <variant>

#include "analyzer/explore/source_style.h"
#include "analyzer/ptx/decode.h"

namespace handoff::explore {

namespace {

bool ordersMemory(const ptx::Effect& effect) {
  return std::holds_alternative<ptx::CpAsyncCommit>(effect) || std::holds_alternative<ptx::CpAsyncWaitGroup>(effect) ||
         std::holds_alternative<ptx::CpAsyncWaitAll>(effect) || std::holds_alternative<ptx::CtaBarrier>(effect) ||
         std::holds_alternative<ptx::WarpBarrier>(effect) || std::holds_alternative<ptx::ClusterBarrier>(effect) ||
         std::holds_alternative<ptx::Mbarrier>(effect) || std::holds_alternative<ptx::Fence>(effect) ||
         std::holds_alternative<ptx::CpAsyncMbarrierArrive>(effect) || std::holds_alternative<ptx::BulkCommit>(effect) ||
         std::holds_alternative<ptx::BulkWait>(effect) || std::holds_alternative<ptx::Wgmma>(effect);
}

}  // namespace

void reportMissingClobbers(const frontend::Unit& unit, const machine::Program& program, diagnose::KernelReport& report) {
  std::set<std::pair<std::string, std::uint32_t>> told;
  const SourceText text = unit.asm_facts.empty() ? SourceText({}) : SourceText::of(unit);
  for (const ptx::Instruction& instr : program.function.instructions) {
    if (!ordersMemory(instr.decoded->effect)) continue;
    const SourceStack& stack = program.locations[instr.loc];
    if (stack.empty()) continue;
    const SourcePos& pos = stack.front().pos;
    for (const frontend::AsmFact& fact : unit.asm_facts) {
      const bool here = fact.pos.file == pos.file && fact.pos.line == pos.line;
      if (!here || (fact.is_volatile && fact.has_memory_clobber)) continue;
      if (!told.insert({fact.pos.file, fact.pos.line}).second) continue;
      diagnose::Finding finding;
      finding.rule = "missing-clobber";
      finding.severity = diagnose::Severity::kNote;
      finding.message = "'" + instr.opcode + "' in inline assembly without " +
                        (fact.is_volatile ? "a \"memory\" clobber" : "volatile") +
                        ": the compiler may move accesses to the tile across it";
      finding.stack = stack;
      if (fact.pos.file == unit.file) {
        if (auto change = completeAsm(text, unit.file, fact.pos.line)) {
          finding.repair = {"tell the compiler that it orders memory", stack, {std::move(*change)}, /*is_tested=*/false};
        }
      }
      report.findings.push_back(std::move(finding));
    }
  }
}

}  // namespace handoff::explore
