// SPDX-License-Identifier: Apache-2.0
// One file from its name to what is reported about it; for the command line, and for the editor's server.
#pragma once

#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/config/config.h"
#include "analyzer/explore/analyze.h"
#include "analyzer/explore/given_check.h"
#include "analyzer/frontend/input.h"
#include "analyzer/report/paths.h"
#include "analyzer/report/report.h"
#include "analyzer/report/source_lines.h"

namespace handoff::project {

inline constexpr std::string_view kDefaultChecks = "*,-perf-*";

/// All that decides what is reported about a file, from wherever it comes: defaults, .handoff.yaml, command line.
struct Settings {
  frontend::Options frontend;
  explore::Options explore;
  std::string checks{kDefaultChecks};  ///< globs, the last match decides
  std::string warnings_as_errors;      ///< globs
  std::vector<config::Suppression> suppressions;
  bool keeps_unit = false;             ///< fill in CheckedFile::unit; not with a memory
};

class Memory;
/// By file and line.
using UsedSuppressions = std::set<std::pair<std::string, std::uint32_t>>;

struct CheckedFile {
  report::FileReport report;
  bool is_internal = false;   ///< the file's error is a fault of ours
  bool is_cancelled = false;  ///< what is said of the file is not all
  bool is_recalled = false;   ///< it was said by an earlier run, and nothing has changed since
  /// The kernels of this file that the launches of the command line and of the configuration are for, in this
  /// order.
  std::vector<explore::Audience> audiences;
  std::vector<explore::MapAudience> map_audiences;  ///< for the tensor maps of the configuration, in its order
  std::shared_ptr<const frontend::Unit> unit;  ///< null: it could not be loaded, or nobody asked for it
};

/// Reads and analyses one file; nothing is filtered yet. Never throws: a fault of ours becomes the file's error.
/// Safe to call from several threads. Texts that are not saved come by `settings.frontend.overlay`; `cancel` in
/// `settings.frontend` and `settings.explore` ends it early. With `memory`, what earlier runs said is not worked out
/// again.
CheckedFile checkFile(const std::string& file, const Settings& settings, Memory* memory = nullptr);

/// What the user sees of it: switched-off checks and silenced findings are taken out, warnings made errors.
/// `sources` must show the same texts as the front end saw.
/// `used`: suppressions of the configuration that silence something are noted there.
void filterReport(report::FileReport& file, const Settings& settings, const report::Paths& paths,
                  report::SourceLines& sources, UsedSuppressions* used = nullptr);

/// Advice takes runs of its own, so it is looked for only when a check of this kind is switched on.
bool wantsAdvice(const Settings& settings);
/// Advice is no defect, whatever the user calls an error: it never changes the exit code.
bool isAdvice(std::string_view rule);

}  // namespace handoff::project
