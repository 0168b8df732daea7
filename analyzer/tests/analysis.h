// SPDX-License-Identifier: Apache-2.0
// The whole analysis of one file, in process, and what tests say about its findings.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analyzer/diagnose/finding.h"
#include "analyzer/explore/analyze.h"
#include "analyzer/frontend/input.h"

namespace handoff::tests {

/// Whether nvcc is installed.
bool hasToolkit();

/// Whether the declarations that come with Handoff are not enough for the file (relative to the root).
bool needsToolkit(const std::string& file);

/// The reports for all kernels of a file below testcases; a test failure when there are none or one is an
/// error.
std::vector<diagnose::KernelReport> analyzeCase(const std::string& path, const std::string& arch,
                                                frontend::Choice choice, const explore::Options& options);

/// A file below testcases, loaded; a test failure when it cannot be.
std::optional<frontend::Unit> loadCase(const std::string& path, const std::string& arch, frontend::Choice choice);

/// Rule, message and the lines of all positions.
std::string describe(const diagnose::Finding& finding);

/// One finding a line.
std::string describe(const std::vector<diagnose::Finding>& findings);

}  // namespace handoff::tests
