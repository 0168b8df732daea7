// SPDX-License-Identifier: Apache-2.0
// Running the handoff binary in tests.
#pragma once

#include <string>

namespace handoff::tests {

struct CommandResult {
  int exit_code = -1;
  std::string out, err;
};

/// Runs the binary with these arguments (shell syntax) in `folder`; NO_COLOR and standard input as in CI, and
/// no cache but that of --cache-dir. `prefix`: a command that runs it, as "timeout 5".
CommandResult runHandoff(const std::string& arguments, const std::string& folder,
                         const std::string& prefix = {});

}  // namespace handoff::tests
