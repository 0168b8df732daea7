// SPDX-License-Identifier: Apache-2.0
// `handoff check`: inputs in, report out.
#pragma once

#include <string>
#include <vector>

#include "analyzer/cli/exit_code.h"
#include "analyzer/cli/options.h"
#include "analyzer/config/config.h"
#include "analyzer/explore/analyze.h"
#include "analyzer/explore/given_check.h"
#include "analyzer/report/report.h"

namespace handoff::cli {

struct CheckedFile {
  report::FileReport report;
  bool is_internal = false;
  /// The kernels of this file that the launches of the command line and of the configuration are for, in this
  /// order.
  std::vector<explore::Audience> audiences;
};

/// The limits and launches that the command line and the configuration give.
explore::Options exploreOptions(const CheckOptions& options, const config::Config& config);

/// Where standard output or --output shall have colours.
bool usesColor(const CheckOptions& options);
/// Folders whose headers are the toolkit's, in addition to those that report::Paths knows.
std::vector<std::string> toolkitFolders(const CheckOptions& options);

/// Reads and analyses one file. Never throws: a fault of ours becomes the file's error and sets
/// `is_internal`. `config`: what .handoff.yaml says for this file; the command line comes before it.
CheckedFile checkFile(const std::string& file, const CheckOptions& options,
                      const config::Config& config = {});

/// The exit code that the counts call for, without internal errors.
ExitCode exitCodeFor(const report::Totals& totals, const CheckOptions& options);

/// The whole command; prints to standard output or --output, failures also to standard error when those are
/// not what a person reads.
ExitCode runCheck(const CheckOptions& options);

}  // namespace handoff::cli
