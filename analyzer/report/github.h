// SPDX-License-Identifier: Apache-2.0
// Workflow commands of GitHub Actions, which the runner turns into annotations of the lines of a pull
// request:
// "::error file=a.cu,line=12,col=5,title=handoff missing-wait::message".
//
// A step shows ten annotations of each of error, warning and notice, a job fifty of all, and the rest is in
// the log only. So findings come first, then failures, then the kernels that are not verified.
#pragma once

#include <string>

#include "analyzer/report/paths.h"
#include "analyzer/report/report.h"

namespace handoff::report {

struct GithubOptions {
  bool is_quiet = false;  ///< findings and failures only
};

/// The last line is no command but the summary, for the log.
std::string renderGithub(const Report& report, const Paths& paths, const GithubOptions& options);

}  // namespace handoff::report
