// SPDX-License-Identifier: Apache-2.0
// From the instructions of a kernel to the calls in the source that they come from.
#pragma once

#include <cstdint>
#include <vector>

#include "analyzer/audit/audit_report.h"
#include "analyzer/machine/program.h"

namespace handoff::audit {

inline constexpr std::uint32_t kNoCall = 0xffffffffu;

struct Lowered {
  std::vector<Call> calls;               ///< without overlaps; Instruction::executed is 0
  std::vector<std::uint32_t> call_of;    ///< by instruction of Program::function: index into `calls`, or kNoCall
  std::vector<std::uint32_t> place_of;   ///< by instruction: index into Call::instructions
};

/// Every asynchronous instruction, and every load and store that an asynchronous interface left in its place.
Lowered lowerCalls(const machine::Program& program);

/// Why a call can only have become loads and stores: what the target and the widths of its accesses say.
std::string reasonForPlain(const machine::Program& program, const Lowered& lowered, std::uint32_t call);

/// "cp.async.cg, 16 bytes"; the opcode for what has no size of its own.
std::string describeInstruction(const machine::Program& program, std::uint32_t instr);

}  // namespace handoff::audit
