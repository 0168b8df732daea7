// SPDX-License-Identifier: Apache-2.0
// Threads take units in order. The main thread waits for the first that is missing and hands it on, so that
// the report is the same for any number of threads.
#include "analyzer/cli/check_run.h"

#include <llvm/Support/ThreadPool.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <future>
#include <iostream>
#include <memory>
#include <thread>
#include <utility>

#include "analyzer/cli/progress.h"

namespace handoff::cli {
namespace {

/// A file that is compiled several times says which time this is.
void nameVariant(const project::TranslationUnit& unit, project::CheckedFile& checked) {
  if (!unit.variant.empty())
    checked.report.notes.insert(checked.report.notes.begin(),
                                Error{"compile command " + unit.variant, {unit.file, 0, 0}});
}

/// As short as it is clear: from the current folder for what lies below it.
std::string shortName(const std::string& file) {
  std::error_code failed;
  const std::string name =
      std::filesystem::path(file).lexically_relative(std::filesystem::current_path(failed)).string();
  return failed || name.empty() || name.starts_with("..") ? file : name;
}

}  // namespace

CheckRun::CheckRun(const CheckOptions& options, std::vector<Task> tasks, project::Memory* memory)
    : options_(options), tasks_(std::move(tasks)), memory_(memory) {}

unsigned CheckRun::threads() const {
  const unsigned wanted =
      options_.jobs != 0 ? options_.jobs : std::max(1u, std::thread::hardware_concurrency());
  return static_cast<unsigned>(std::min<std::size_t>(wanted, std::max<std::size_t>(tasks_.size(), 1)));
}

bool CheckRun::isTouched(const Task& task, const project::Changes& changes) const {
  if (changes.touch({task.config->path})) return true;
  std::optional<std::set<std::string>> files;
  if (memory_ != nullptr) files = memory_->filesOf(task.unit.file, task.settings);
  if (!files) files = frontend::scanFiles(task.unit.file, task.settings.frontend);
  return !files || changes.touch(*files);  // what cannot be read has to be looked at
}

std::optional<Error> CheckRun::keepChanged() {
  const Result<std::set<std::string>> changed = project::changedSince(options_.changed_since);
  if (!changed) return changed.error();
  const project::Changes changes(*changed);
  std::vector<char> is_touched(tasks_.size());
  llvm::DefaultThreadPool pool(llvm::hardware_concurrency(threads()));
  for (std::size_t i = 0; i < tasks_.size(); ++i)
    pool.async([&, i] { is_touched[i] = static_cast<char>(isTouched(tasks_[i], changes)); });
  pool.wait();
  std::vector<Task> kept;
  for (std::size_t i = 0; i < tasks_.size(); ++i)
    if (is_touched[i] != 0) kept.push_back(std::move(tasks_[i]));
  tasks_ = std::move(kept);
  return std::nullopt;
}

void CheckRun::run(const std::function<void(const Task& task, project::CheckedFile checked)>& take) {
  using Checked = std::shared_ptr<project::CheckedFile>;
  const bool shows_progress = !options_.is_quiet && tasks_.size() > 1;
  Progress progress(std::cerr, shows_progress ? terminalColumns() : 0, tasks_.size());
  llvm::DefaultThreadPool pool(llvm::hardware_concurrency(threads()));
  std::vector<std::future<Checked>> results;
  results.reserve(tasks_.size());
  for (const Task& task : tasks_) {
    // Not the pool's own future: that one is deferred, and a wait with a time limit returns from it at once.
    const auto check = std::make_shared<std::packaged_task<Checked()>>([this, &task, &progress] {
      const std::string name = shortName(task.unit.file);
      progress.start(name);
      auto checked =
          std::make_shared<project::CheckedFile>(project::checkFile(task.unit.file, task.settings, memory_));
      progress.end(name);
      return checked;
    });
    results.push_back(check->get_future());
    pool.async([check] { (*check)(); });
  }
  for (std::size_t i = 0; i < results.size(); ++i) {
    progress.show();
    while (results[i].wait_for(std::chrono::milliseconds(100)) != std::future_status::ready) progress.show();
    progress.hide();
    const Checked checked = results[i].get();  // the only one: a report is printed once and may be large
    nameVariant(tasks_[i].unit, *checked);
    take(tasks_[i], std::move(*checked));
  }
}

project::Cache openCache(const CheckOptions& options) {
  if (!options.uses_cache) return {};
  project::Cache cache(options.cache_folder.empty() ? project::Cache::defaultFolder() : options.cache_folder);
  if (!cache.problem().empty() && !options.cache_folder.empty())
    std::cerr << "handoff: warning: the cache in " << options.cache_folder
              << " cannot be used: " << cache.problem() << "\n";
  return cache;
}

}  // namespace handoff::cli
