// SPDX-License-Identifier: Apache-2.0
// libFuzzer target: any bytes parse or give an error; what parses has graphs, prints, parses again, and each kernel
// of it becomes a program or says why not.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "analyzer/machine/program.h"
#include "analyzer/ptx/cfg.h"
#include "analyzer/ptx/decode.h"
#include "analyzer/ptx/parser.h"
#include "analyzer/ptx/printer.h"
#include "analyzer/support/check.h"

namespace {

using namespace handoff;

void checkGraph(const ptx::Function& function) {
  const ptx::Cfg cfg(function);
  for (ptx::InstrIndex i = 0; i < function.instructions.size(); ++i) {
    const ptx::Instruction& instruction = function.instructions[i];
    HANDOFF_CHECK(instruction.decoded != nullptr);
    HANDOFF_CHECK(destinationCount(*instruction.decoded, instruction.operands.size()) <= instruction.operands.size());
    const ptx::BlockId block = cfg.blockOf(i);
    HANDOFF_CHECK(cfg.dominates(block, block));
    if (cfg.loopHeader(block) != ptx::kExitBlock) HANDOFF_CHECK(cfg.dominates(cfg.loopHeader(block), block));
  }
}

void checkProgram(const Result<machine::Program>& program) {
  if (!program) return HANDOFF_CHECK(!program.error().message.empty());
  for (const machine::Op& op : program->ops) {
    HANDOFF_CHECK(op.instr < program->function.instructions.size());
    HANDOFF_CHECK(op.target == machine::kNoOp || op.target <= program->ops.size());
    HANDOFF_CHECK(op.first_arg + op.arg_count <= program->args.size() && op.dst_count <= op.arg_count);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto module = ptx::parse(std::string_view(reinterpret_cast<const char*>(data), size), "fuzz.ptx");
  if (!module) return 0;
  for (const ptx::Function& function : module->functions) {
    checkGraph(function);
    if (!function.is_kernel || function.instructions.empty()) continue;
    checkProgram(machine::buildProgram(*module, function));
    checkProgram(machine::buildWholeProgram(*module, function));
  }
  const auto again = ptx::parse(print(*module), "fuzz.ptx");
  HANDOFF_CHECK(again.hasValue());
  HANDOFF_CHECK(again->functions.size() == module->functions.size());
  return 0;
}
