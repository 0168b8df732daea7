// SPDX-License-Identifier: Apache-2.0
// `handoff check`: inputs in, report out.
#pragma once

#include <string>
#include <vector>

#include "analyzer/cli/exit_code.h"
#include "analyzer/cli/options.h"
#include "analyzer/cli/output.h"
#include "analyzer/cli/settings.h"
#include "analyzer/report/report.h"

namespace handoff::cli {

/// Where standard output or --output shall have colours.
bool usesColor(const CheckOptions& options);
/// Folders whose headers are the toolkit's, in addition to those that report::Paths knows.
std::vector<std::string> toolkitFolders(const CheckOptions& options);

/// The exit code that the counts call for, without internal errors.
ExitCode exitCodeFor(const report::Totals& totals, const CheckOptions& options);

/// The whole command; prints to standard output or --output, failures also to standard error when those are
/// not what a person reads. `special` takes the files in place of the format that `options` name.
ExitCode runCheck(const CheckOptions& options, Output* special = nullptr);

}  // namespace handoff::cli
