// SPDX-License-Identifier: Apache-2.0
// The printer's pieces below the statement.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "analyzer/ptx/module.h"

namespace handoff::ptx {

/// "0f3F800000": prefix "0f" (32 bits) or "0d" (64 bits).
std::string floatLiteral(std::uint64_t bits, std::string_view prefix);
/// A name of that instruction index; empty if no label stands there.
std::string labelName(const Function& function, InstrIndex target);
/// Guard, opcode and operands, without the semicolon.
std::string printInstruction(const Module& module, const Function& function, const Instruction& instruction);

}  // namespace handoff::ptx
