// SPDX-License-Identifier: Apache-2.0
// The report for programs. The format is documented in docs/json.md; fields are only ever added.
#pragma once

#include <string>

#include "analyzer/report/paths.h"
#include "analyzer/report/report.h"

namespace handoff::report {

struct JsonOptions {
  std::string tool_version = {};
  bool show_stats = false;  ///< adds times; without them the same input gives the same bytes
};

std::string renderJson(const Report& report, const Paths& paths, const JsonOptions& options);

}  // namespace handoff::report
