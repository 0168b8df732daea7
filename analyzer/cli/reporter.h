// SPDX-License-Identifier: Apache-2.0
// Everything between an analysed file and the exit code: filters, witnesses, repairs, counts, the output.
#pragma once

#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "analyzer/cli/exit_code.h"
#include "analyzer/cli/options.h"
#include "analyzer/cli/output.h"
#include "analyzer/cli/run_files.h"
#include "analyzer/cli/settings.h"
#include "analyzer/project/check_file.h"
#include "analyzer/project/memory.h"
#include "analyzer/report/repeats.h"

namespace handoff::cli {

/// Used by one thread, with the files in the order in which they are to be reported.
class Reporter {
 public:
  /// All of them outlive the reporter. `output`: in place of the one that --format names.
  Reporter(const CheckOptions& options, RunFiles& files, std::ostream& out, project::Memory* memory,
           Output* output = nullptr);

  void add(project::CheckedFile checked, const project::Settings& settings);
  /// For a run over all that the configurations are about.
  void addUnusedSuppressions(const Configurations& configurations);
  /// `at_least`: what is known to have gone wrong beside the files.
  ExitCode finish(ExitCode at_least = ExitCode::kNothingFound);

 private:
  void addWitnesses(report::FileReport& file);
  void fix(const report::FileReport& file, std::size_t weight, const project::Settings& settings);
  void printFailures();

  const CheckOptions& options_;
  RunFiles& files_;
  std::ostream& out_;
  project::Memory* memory_;
  report::Paths paths_;
  report::SourceLines sources_;
  std::unique_ptr<Output> own_output_;
  Output* output_;
  report::RunEnd end_;
  report::RepeatFinder repeats_;
  project::UsedSuppressions used_suppressions_;
  std::vector<std::string> shortfalls_;  ///< of kernels that are not verified
  bool has_internal_ = false, has_failed_write_ = false;
};

}  // namespace handoff::cli
