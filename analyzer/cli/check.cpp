// SPDX-License-Identifier: Apache-2.0
// `handoff check`. Files are analysed by a pool of threads; results are filtered and printed by this thread
// in the order of the inputs, so the output does not depend on -j.
#include "analyzer/cli/check.h"

#include <llvm/Support/ThreadPool.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <future>
#include <iostream>
#include <memory>
#include <thread>
#include <utility>

#include "analyzer/cli/given.h"
#include "analyzer/cli/inputs.h"
#include "analyzer/cli/reporter.h"
#include "analyzer/cli/run_files.h"

namespace handoff::cli {
namespace {

unsigned jobsFor(const CheckOptions& options, std::size_t files) {
  const unsigned wanted =
      options.jobs != 0 ? options.jobs : std::max(1u, std::thread::hardware_concurrency());
  return static_cast<unsigned>(std::min<std::size_t>(wanted, std::max<std::size_t>(files, 1)));
}

ExitCode fail(const Error& error) {
  if (error.pos.file.empty()) std::cerr << "handoff: ";
  std::cerr << toString(error) << "\n";
  return ExitCode::kBadInput;
}

}  // namespace

project::Settings settingsFor(const CheckOptions& options, const config::Config& config) {
  project::Settings settings{.frontend = options.frontend, .explore = {}, .checks = options.checks,
                             .warnings_as_errors = options.warnings_as_errors};
  explore::Options& result = settings.explore;
  const config::Budget& budget = config.budget;
  result.max_seconds = options.max_seconds.value_or(budget.seconds.value_or(result.max_seconds));
  result.max_paths = options.max_paths.value_or(budget.paths.value_or(result.max_paths));
  result.max_memory_mb = options.max_memory_mb.value_or(budget.memory_mb.value_or(result.max_memory_mb));
  result.kernel_filter = options.kernel;
  result.launches = options.launches;
  result.any_launch = options.any_launch;
  result.makes_jobs = !options.witness_folder.empty() || !options.confirm_results.empty();
  result.makes_pictures = options.format == "html" ||
                          std::any_of(options.reports.begin(), options.reports.end(),
                                      [](const ReportFile& file) { return file.format == "html"; });
  for (const config::Launch& launch : config.launches)
    result.configured.push_back({launch.kernel, launch.launch, launch.pos});
  return settings;
}

bool usesColor(const CheckOptions& options) {
  if (options.color != Color::kAuto) return options.color == Color::kAlways;
  const char* no_color = std::getenv("NO_COLOR");
  return options.output.empty() && (no_color == nullptr || *no_color == '\0') && isatty(STDOUT_FILENO) == 1;
}

std::vector<std::string> toolkitFolders(const CheckOptions& options) {
  std::vector<std::string> folders = {options.frontend.cuda_path};
  for (const char* variable : {"CUDA_HOME", "CUDA_PATH"})
    if (const char* value = std::getenv(variable)) folders.emplace_back(value);
  return folders;
}

ExitCode exitCodeFor(const report::Totals& totals, const CheckOptions& options) {
  const bool requires_checked = options.require != Requirement::kNone;
  if (totals.failed_files != 0 || totals.files_unchecked != 0) return ExitCode::kBadInput;
  if (requires_checked && (totals.files_without_kernel != 0 || totals.unchecked != 0))
    return ExitCode::kBadInput;
  if (!options.kernel.empty() && totals.kernels == 0) return ExitCode::kBadInput;
  if (options.exits_zero) return ExitCode::kNothingFound;
  if (totals.errors + totals.warnings != 0) return ExitCode::kFindings;
  if (options.require == Requirement::kVerified && totals.bounded != 0) return ExitCode::kFindings;
  return ExitCode::kNothingFound;
}

ExitCode runCheck(const CheckOptions& options, Output* special) {
  const Result<std::vector<std::string>> files = expandInputs(options);
  if (!files) return fail(files.error());
  const Result<Configurations> configurations = Configurations::forFiles(*files);
  if (!configurations) return fail(configurations.error());

  Result<RunFiles> run_files = RunFiles::open(options);
  if (!run_files) return fail(run_files.error());

  std::ofstream output;
  if (!options.output.empty() && special == nullptr) {
    output.open(options.output);
    if (!output) return fail({"cannot write to the file given with --output", {options.output, 0, 0}});
  }
  Reporter reporter(options, *run_files, output.is_open() ? output : std::cout, special);

  llvm::DefaultThreadPool pool(llvm::hardware_concurrency(jobsFor(options, files->size())));
  std::vector<std::shared_future<std::shared_ptr<project::CheckedFile>>> results;
  results.reserve(files->size());
  for (const std::string& file : *files)
    results.push_back(pool.async([&options, &file, &config = configurations->of(file)] {
      return std::make_shared<project::CheckedFile>(project::checkFile(file, settingsFor(options, config)));
    }));
  GivenLaunches given(options);
  for (std::size_t i = 0; i < results.size(); ++i) {
    const auto checked = results[i].get();
    given.add(checked->audiences, configurations->of((*files)[i]));
    reporter.add(std::move(*checked), settingsFor(options, configurations->of((*files)[i])));
    results[i] = {};  // a report is printed once and may be large
  }
  const bool is_given_right = given.reportMistakes();
  return reporter.finish(is_given_right ? ExitCode::kNothingFound : ExitCode::kBadInput);
}

}  // namespace handoff::cli
