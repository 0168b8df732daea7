// SPDX-License-Identifier: Apache-2.0
// `handoff baseline create|update|diff`.
#pragma once

#include <span>
#include <string_view>

#include "analyzer/cli/exit_code.h"

namespace handoff::cli {

/// The words behind "baseline"; the first one says what to do. `--help` is none of its concern.
ExitCode runBaseline(std::span<const std::string_view> arguments);

}  // namespace handoff::cli
