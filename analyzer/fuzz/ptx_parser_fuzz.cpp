// SPDX-License-Identifier: Apache-2.0
// libFuzzer target: any bytes parse or give an error; what parses has graphs, prints, and parses again.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "analyzer/ptx/cfg.h"
#include "analyzer/ptx/decode.h"
#include "analyzer/ptx/parser.h"
#include "analyzer/ptx/printer.h"
#include "analyzer/support/check.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace handoff::ptx;
  const auto module = parse(std::string_view(reinterpret_cast<const char*>(data), size), "fuzz.ptx");
  if (!module) return 0;
  for (const Function& function : module->functions) {
    const Cfg cfg(function);
    for (InstrIndex i = 0; i < function.instructions.size(); ++i) {
      const Instruction& instruction = function.instructions[i];
      HANDOFF_CHECK(instruction.decoded != nullptr);
      HANDOFF_CHECK(destinationCount(*instruction.decoded, instruction.operands.size()) <=
                    instruction.operands.size());
      const BlockId block = cfg.blockOf(i);
      HANDOFF_CHECK(cfg.dominates(block, block));
      if (cfg.loopHeader(block) != kExitBlock) HANDOFF_CHECK(cfg.dominates(cfg.loopHeader(block), block));
    }
  }
  const auto again = parse(print(*module), "fuzz.ptx");
  HANDOFF_CHECK(again.hasValue());
  HANDOFF_CHECK(again->functions.size() == module->functions.size());
  return 0;
}
