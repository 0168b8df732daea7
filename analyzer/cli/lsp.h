// SPDX-License-Identifier: Apache-2.0
// `handoff lsp`: the language server on standard input and output.
#pragma once

#include "analyzer/cli/options.h"

namespace handoff::cli {

/// Serves until the client ends it. The exit code is that of the protocol, not one of ExitCode: 0 after the
/// client has shut the server down, 1 without.
int runLsp(const CheckOptions& options);

}  // namespace handoff::cli
