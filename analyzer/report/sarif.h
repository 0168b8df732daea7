// SPDX-License-Identifier: Apache-2.0
// The report as a SARIF 2.1.0 log (docs/sarif.md). The reasons for writing it with LLVM's JSON library rather
// than with Clang's SarifDocumentWriter are in docs/decisions/0009-sarif-by-hand.md.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "analyzer/report/glob.h"
#include "analyzer/report/paths.h"
#include "analyzer/report/report.h"
#include "analyzer/report/source_lines.h"

namespace handoff::report {

struct Baseline;

/// Steps of a trace that are written; viewers keep 1,000 locations of a result at most.
inline constexpr std::size_t kMaxSarifSteps = 200;

struct SarifOptions {
  std::string tool_version = {};
  /// Where the documents are: a rule's page is at `docs_uri` + "/rules/<rule>.md".
  std::string docs_uri = {};
  /// The page of a rule in Markdown, if there is one.
  std::function<std::optional<std::string_view>(std::string_view rule)> rule_page = {};
  GlobList checks = {};                ///< rules that are switched on
  bool omits_silenced = false;         ///< leave silenced findings out, for readers that ignore suppressions
  const Baseline* baseline = nullptr;  ///< gives every result its baselineState
};

std::string renderSarif(const Report& report, const Paths& paths, SourceLines& sources,
                        const SarifOptions& options);

}  // namespace handoff::report
