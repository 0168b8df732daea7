// SPDX-License-Identifier: Apache-2.0
// --dump-config, --explain-config and --verify-config.
#pragma once

#include "analyzer/cli/exit_code.h"
#include "analyzer/cli/options.h"

namespace handoff::cli {

/// Does what options.config_action says.
ExitCode showConfig(const CheckOptions& options);

}  // namespace handoff::cli
