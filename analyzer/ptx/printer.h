// SPDX-License-Identifier: Apache-2.0
// Module -> PTX text that a PTX assembler accepts and that parses to an equal module.
#pragma once

#include <string>

#include "analyzer/ptx/module.h"

namespace handoff::ptx {

std::string print(const Module& module);
/// One instruction on one line, for messages: "cp.async.wait_group 1".
std::string print(const Module& module, const Function& function, const Instruction& instruction);

}  // namespace handoff::ptx
