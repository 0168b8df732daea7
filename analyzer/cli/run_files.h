// SPDX-License-Identifier: Apache-2.0
// The files that a run of `handoff check` reads and writes beside its inputs and its report: witness jobs,
// the baseline, further reports, exported repairs. All are opened before the analysis, so that a mistake in a
// path does not cost its time.
#pragma once

#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/cli/options.h"
#include "analyzer/cli/output.h"
#include "analyzer/cli/witness_files.h"
#include "analyzer/report/export_fixes.h"

namespace handoff::cli {

class RunFiles {
 public:
  /// Fails when one of them cannot be read or written. `options` outlives the result.
  static Result<RunFiles> open(const CheckOptions& options);

  WitnessFiles& witnesses() { return witnesses_; }
  const report::Baseline* baseline() const { return baseline_ ? &*baseline_ : nullptr; }

  /// Makes the writers of the further reports.
  void start(const report::Paths& paths, report::SourceLines& sources);
  /// A file as the user sees it, before --fix changes it.
  void add(const report::FileReport& file, const report::Paths& paths, report::SourceLines& sources);
  /// Writes what is not written yet; the errors are those of files that could not be written to the end.
  std::vector<Error> finish(const report::RunEnd& end);

 private:
  struct ExtraReport {
    std::string format, path;
    std::unique_ptr<std::ofstream> stream;
    std::unique_ptr<Output> output;
  };

  const CheckOptions* options_ = nullptr;
  WitnessFiles witnesses_;
  std::optional<report::Baseline> baseline_;
  std::vector<ExtraReport> reports_;
  std::unique_ptr<std::ofstream> fixes_stream_;
  std::optional<report::FixExport> fixes_;
};

}  // namespace handoff::cli
