// SPDX-License-Identifier: Apache-2.0
// placeholder
#include "analyzer/ptx/printer.h"
namespace handoff::ptx {
std::string print(const Module&) { return {}; }
std::string print(const Module&, const Function&, const Instruction& instruction) { return instruction.opcode; }
}
