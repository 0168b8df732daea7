// SPDX-License-Identifier: Apache-2.0
// The report for people and editors: `file:line:col: error: message [rule]`, then what a reader needs to
// believe it.
#pragma once

#include <string>

#include "analyzer/report/paths.h"
#include "analyzer/report/report.h"
#include "analyzer/report/source_lines.h"

namespace handoff::report {

struct TextOptions {
  bool use_color = false;
  bool is_quiet = false;    ///< findings and failures only
  bool show_stats = false;  ///< times and instructions a second
};

/// One file: findings, then one line a kernel with its verdict and limits. A finding with its fix fits on a
/// screen of 40 lines: positions and trace steps beyond that are counted, and all of them are in the JSON
/// report.
std::string renderText(const FileReport& file, const Paths& paths, SourceLines& sources,
                       const TextOptions& options);

/// The last lines of a run.
std::string renderEnd(const RunEnd& end, const Paths& paths, const TextOptions& options);
std::string renderSummary(const Totals& totals, const TextOptions& options);

}  // namespace handoff::report
