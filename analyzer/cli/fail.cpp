// SPDX-License-Identifier: Apache-2.0
// One spelling of errors for all commands.
#include "analyzer/cli/fail.h"

#include <iostream>

namespace handoff::cli {

ExitCode fail(const Error& error) {
  if (error.pos.file.empty()) std::cerr << "handoff: ";
  std::cerr << toString(error) << "\n";
  return ExitCode::kBadInput;
}

}  // namespace handoff::cli
