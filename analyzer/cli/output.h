// SPDX-License-Identifier: Apache-2.0
// Ways to write a report. A format is a class and a row in output.cpp.
#pragma once

#include <memory>
#include <ostream>
#include <span>
#include <string_view>

#include "analyzer/cli/options.h"
#include "analyzer/report/baseline.h"
#include "analyzer/report/paths.h"
#include "analyzer/report/report.h"
#include "analyzer/report/source_lines.h"

namespace handoff::cli {

/// What every format may need; outlives it.
struct OutputContext {
  const CheckOptions& options;
  std::ostream& out;  ///< standard output, or the file of --output or of --report
  const report::Paths& paths;
  report::SourceLines& sources;
  const report::Baseline* baseline = nullptr;  ///< that of --baseline
  bool is_extra = false;                       ///< a --report beside the one that people look at
};

class Output {
 public:
  virtual ~Output() = default;
  /// A file as the user shall see it: filtered, and in the order of the inputs. It is not needed any more.
  virtual void add(report::FileReport file) = 0;
  /// After the last file.
  virtual void finish(const report::RunEnd& end) = 0;
  /// What a person reads at once: findings are printed as they come, failures too.
  virtual bool isForPeople() const { return false; }
};

struct FormatInfo {
  std::string_view name;
  std::unique_ptr<Output> (*make)(const OutputContext& context);
};

std::span<const FormatInfo> formats();
/// `format`: a name of formats().
std::unique_ptr<Output> makeOutput(const std::string& format, const OutputContext& context);

/// Formats for services that show findings beside the code.
std::unique_ptr<Output> makeSarif(const OutputContext& context);
std::unique_ptr<Output> makeGithub(const OutputContext& context);

}  // namespace handoff::cli
