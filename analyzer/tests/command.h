// SPDX-License-Identifier: Apache-2.0
// Running the handoff binary in tests.
#pragma once

#include <string>

namespace handoff::tests {

struct CommandResult {
  int exit_code = -1;
  std::string out, err;
};

/// Runs the binary with these arguments (shell syntax) in `folder`; NO_COLOR and standard input as in CI.
CommandResult runHandoff(const std::string& arguments, const std::string& folder);

}  // namespace handoff::tests
