// SPDX-License-Identifier: Apache-2.0
// What the process tells its caller. Documented in docs/cli.md.
#pragma once

namespace handoff::cli {

/// When several apply, the largest one is returned: an input that was not checked hides nothing that was
/// found.
enum class ExitCode : int {
  kNothingFound = 0,
  kFindings = 1,  ///< a finding of severity warning or error, or a bounded kernel with --require=verified
  kBadInput = 2,  ///< usage, input or configuration; a file of which nothing could be checked
  kInternal = 3,  ///< a fault of Handoff itself
  kInterrupted =
      130,  ///< by SIGINT or SIGTERM: what was reported is true, but not all. As shells say for SIGINT
};

}  // namespace handoff::cli
