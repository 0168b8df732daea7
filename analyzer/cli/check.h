// SPDX-License-Identifier: Apache-2.0
// `handoff check`: inputs in, report out.
#pragma once

#include <string>

#include "analyzer/cli/exit_code.h"
#include "analyzer/cli/options.h"
#include "analyzer/report/report.h"

namespace handoff::cli {

/// Reads and analyses one file. Never throws: a fault of ours becomes the file's error and sets
/// `is_internal`.
struct CheckedFile {
  report::FileReport report;
  bool is_internal = false;
};
CheckedFile checkFile(const std::string& file, const CheckOptions& options);

/// The exit code that the counts call for, without internal errors.
ExitCode exitCodeFor(const report::Totals& totals, const CheckOptions& options);

/// The whole command; prints to standard output or --output, failures also to standard error when those are
/// not what a person reads.
ExitCode runCheck(const CheckOptions& options);

}  // namespace handoff::cli
