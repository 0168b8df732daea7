// SPDX-License-Identifier: Apache-2.0
// How every command says that it cannot go on.
#pragma once

#include "analyzer/cli/exit_code.h"
#include "analyzer/support/result.h"

namespace handoff::cli {

/// Prints the error to standard error, with the program's name where it is about no file. Returns kBadInput.
ExitCode fail(const Error& error);

}  // namespace handoff::cli
