// SPDX-License-Identifier: Apache-2.0
// `handoff replay JOB`: the two legal orders of a finding's events, side by side, and the bytes that differ.
#pragma once

#include <string>

#include "analyzer/cli/exit_code.h"
#include "analyzer/support/json.h"

namespace handoff::cli {

/// `job`: a manifest (docs/witness.md).
std::string replayText(const json::Value& job);

/// Prints the replay of DIR/job.json.
ExitCode runReplay(const std::string& folder);

}  // namespace handoff::cli
