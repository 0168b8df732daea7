// SPDX-License-Identifier: Apache-2.0
// Asynchronous instructions of machine code, as "cuobjdump -sass" prints it, or "nvdisasm -gi", which adds lines.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/audit/audit_report.h"

namespace handoff::audit {

struct SassInstruction {
  Lowering lowering = Lowering::kCpAsync;
  std::string opcode;        ///< "LDGSTS.E.BYPASS.128"
  std::uint32_t line = 0;    ///< in the kernel, where the outermost call is; 0: the text has no lines
  std::uint32_t count = 0;   ///< in the function, at that line
};

struct SassFunction {
  std::string name;          ///< mangled
  std::string arch;          ///< "sm_90a"; empty where the text does not say
  std::vector<SassInstruction> instructions;  ///< by their first place in the code; only asynchronous ones
  std::uint32_t plain_loads = 0, plain_stores = 0;  ///< from global memory, and to shared memory

  /// The opcodes of that kind at that line, as "LDGSTS.E.128 (4), LDGSTS.E (2)"; of the whole function where the text has no
  /// lines, or the line is 0. Empty where there is none.
  std::string opcodesOf(Lowering lowering, std::uint32_t line = 0) const;
  bool hasLines() const;
};

/// The functions of the text, in its order.
std::vector<SassFunction> parseSass(std::string_view text);

}  // namespace handoff::audit
