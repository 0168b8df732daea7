// SPDX-License-Identifier: Apache-2.0
// `handoff mutate`: the mutants of kernels, and what the analysis says to them.
#pragma once

#include "analyzer/cli/exit_code.h"
#include "analyzer/cli/options.h"

namespace handoff::cli {

ExitCode runMutate(const CheckOptions& options);

}  // namespace handoff::cli
