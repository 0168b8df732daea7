// SPDX-License-Identifier: Apache-2.0
// The report as one page for a browser, which needs nothing but itself.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "analyzer/report/paths.h"
#include "analyzer/report/report.h"
#include "analyzer/report/source_lines.h"

namespace handoff::report {

struct HtmlOptions {
  std::string tool_version;
  bool show_stats = false;  ///< times, which differ from run to run
  /// The page of a rule, as `handoff explain` prints it; empty where there is none.
  std::function<std::string_view(std::string_view rule)> rule_page;
};

/// The same report gives the same bytes, unless times are shown.
std::string renderHtml(const Report& report, const Paths& paths, SourceLines& sources,
                       const HtmlOptions& options);

}  // namespace handoff::report
