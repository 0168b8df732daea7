// SPDX-License-Identifier: Apache-2.0
// `handoff queue`: the queue lab in the terminal, and its page.
#pragma once

#include "analyzer/cli/exit_code.h"
#include "analyzer/cli/options.h"

namespace handoff::cli {

ExitCode runQueue(const CheckOptions& options);

}  // namespace handoff::cli
