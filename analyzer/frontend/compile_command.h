// SPDX-License-Identifier: Apache-2.0
// Which flags a file is compiled with.
#pragma once

#include <optional>

#include "analyzer/frontend/flags.h"
#include "analyzer/frontend/input.h"

namespace handoff::frontend {

struct CompileCommand {
  Flags flags;
  std::optional<Error> note;  ///< a guess the user should know of
};

/// From a compile_commands.json, or from the fixed flags, followed by Options::extra_args. Options::arch
/// wins; without any architecture it is sm_90a. Errors: a database that cannot be read or is no database.
Result<CompileCommand> commandFor(const std::string& file, const Options& options);

}  // namespace handoff::frontend
