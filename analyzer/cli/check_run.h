// SPDX-License-Identifier: Apache-2.0
// The work of `handoff check`: units on a pool of threads, their results in order.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/cli/options.h"
#include "analyzer/cli/settings.h"
#include "analyzer/project/changes.h"
#include "analyzer/project/check_file.h"
#include "analyzer/project/memory.h"
#include "analyzer/project/units.h"

namespace handoff::cli {

/// A unit with all that decides on its report.
struct Task {
  project::TranslationUnit unit;
  project::Settings settings;
  const config::Config* config = nullptr;
};

class CheckRun {
 public:
  /// All outlive the run. `memory`: null for none.
  CheckRun(const CheckOptions& options, std::vector<Task> tasks, project::Memory* memory);

  /// Leaves the tasks whose files changed since --changed-since. Fails when git cannot say.
  std::optional<Error> keepChanged();
  /// Calls `take` for each unit in order, in this thread.
  void run(const std::function<void(const Task& task, project::CheckedFile checked)>& take);

  const std::vector<Task>& tasks() const { return tasks_; }

 private:
  bool isTouched(const Task& task, const project::Changes& changes) const;
  unsigned threads() const;

  const CheckOptions& options_;
  std::vector<Task> tasks_;
  project::Memory* memory_;
};

/// The cache that the options ask for; a warning on standard error when one that was named cannot be used.
project::Cache openCache(const CheckOptions& options);

}  // namespace handoff::cli
