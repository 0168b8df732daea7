// SPDX-License-Identifier: Apache-2.0
// Module -> PTX text that a PTX assembler accepts and that parses to an equal module.
#pragma once

#include <map>
#include <string>

#include "analyzer/ptx/module.h"

namespace handoff::ptx {

std::string print(const Module& module);

/// PTX text that is added while a module is printed. Instructions keep their numbers; a jump to an instruction runs what
/// stands before it.
struct Insertions {
  std::string header;    ///< behind the directives of the module
  std::string function;  ///< the function that the rest is for
  std::string entry;     ///< behind its declarations
  std::multimap<InstrIndex, std::string> before;
};
std::string print(const Module& module, const Insertions& insertions);
/// One instruction on one line, for messages: "cp.async.wait_group 1".
std::string print(const Module& module, const Function& function, const Instruction& instruction);

}  // namespace handoff::ptx
