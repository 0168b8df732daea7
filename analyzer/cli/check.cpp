// SPDX-License-Identifier: Apache-2.0
// `handoff check`: from the options to units, and from their results to the exit code.
#include "analyzer/cli/check.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <optional>
#include <utility>

#include "analyzer/cli/check_run.h"
#include "analyzer/cli/fail.h"
#include "analyzer/cli/given.h"
#include "analyzer/cli/interrupt.h"
#include "analyzer/cli/reporter.h"
#include "analyzer/cli/run_files.h"
#include "analyzer/cli/settings.h"
#include "analyzer/cli/show_config.h"

namespace handoff::cli {
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

namespace {

std::vector<Task> tasksOf(const std::vector<project::TranslationUnit>& units, const Configurations& configurations,
                                  const CancelToken& cancel) {
  std::vector<Task> tasks;
  for (const project::TranslationUnit& unit : units) {
    Task task{unit, configurations.settings(unit.file), &configurations.of(unit.file)};
    task.settings.frontend = project::optionsOf(unit, task.settings.frontend);
    task.settings.frontend.cancel = task.settings.explore.cancel = &cancel;
    tasks.push_back(std::move(task));
  }
  return tasks;
}

/// Has the run looked at everything that the configurations speak of?
bool isWholeProject(const CheckOptions& options) {
  const bool is_whole = options.inputs.empty() && options.kernel.empty() && options.changed_since.empty();
  return is_whole && options.frontend.build_path.has_value();
}

}  // namespace

ExitCode runCheck(const CheckOptions& options, Output* special) {
  if (options.config_action != CheckOptions::ConfigAction::kNone) return showConfig(options);
  const auto units = project::selectUnits(options.inputs, options.frontend);
  if (!units) return fail(units.error());
  std::vector<std::string> files;
  for (const project::TranslationUnit& unit : *units) files.push_back(unit.file);
  const Result<Configurations> configurations = Configurations::forFiles(files, options);
  if (!configurations) return fail(configurations.error());
  Result<RunFiles> run_files = RunFiles::open(options);
  if (!run_files) return fail(run_files.error());

  const CancelToken& cancel = cancelOnInterrupt();
  project::Memory memory(openCache(options));
  CheckRun run(options, tasksOf(*units, *configurations, cancel), &memory);
  if (!options.changed_since.empty())
    if (const std::optional<Error> error = run.keepChanged()) return fail(*error);

  std::ofstream output;
  if (!options.output.empty() && special == nullptr) {
    output.open(options.output);
    if (!output) return fail({"cannot write to the file given with --output", {options.output, 0, 0}});
  }
  Reporter reporter(options, *run_files, output.is_open() ? output : std::cout, &memory, special);
  Given given(options);
  run.run([&](const Task& task, project::CheckedFile checked) {
    given.add(checked, *task.config);
    reporter.add(std::move(checked), task.settings);
  });
  if (isWholeProject(options)) reporter.addUnusedSuppressions(*configurations);
  memory.cache().prune();
  const bool is_given_right = given.reportMistakes();
  return reporter.finish(is_given_right ? ExitCode::kNothingFound : ExitCode::kBadInput);
}

}  // namespace handoff::cli
