// SPDX-License-Identifier: Apache-2.0
// PTX text -> Module.
#pragma once

#include <string>
#include <string_view>

#include "analyzer/ptx/module.h"
#include "analyzer/support/result.h"

namespace handoff::ptx {

/// Parses PTX 7.0 to 9.0 as nvcc, Clang, Triton and TVM emit it. `file` names the text in errors and
/// positions. Instructions that the table does not know parse generically (effect Unmodelled). Errors: binary
/// input, truncated text, text that is not PTX, each with its line. Never crashes, whatever the bytes.
Result<Module> parse(std::string_view text, std::string file);

}  // namespace handoff::ptx
