// SPDX-License-Identifier: Apache-2.0
// One file through project::checkFile, and what it depended on.
#include "analyzer/lsp/project_checker.h"

#include <algorithm>
#include <exception>
#include <filesystem>

#include "analyzer/audit/audit.h"
#include "analyzer/frontend/database.h"

namespace handoff::lsp {
namespace {

namespace fs = std::filesystem;

/// Where a configuration of the file is, or would be nearer than the one there is.
std::vector<std::string> configCandidates(const std::string& file) {
  std::vector<std::string> candidates;
  for (fs::path folder = fs::path(file).parent_path();; folder = folder.parent_path()) {
    candidates.push_back((folder / config::kFileName).string());
    if (folder == folder.parent_path()) return candidates;
  }
}

std::vector<std::string> dependenciesOf(const std::string& file, const frontend::Unit& unit,
                                        const frontend::Options& options) {
  std::vector<std::string> files = configCandidates(file);
  if (options.build_path) {
    files.push_back(frontend::databaseIn(*options.build_path));
  } else if (!options.has_fixed_flags) {
    const std::vector<std::string> databases = frontend::databaseCandidates(file);
    files.insert(files.end(), databases.begin(), databases.end());
  }
  files.push_back(file);
  files.insert(files.end(), unit.files_read.begin(), unit.files_read.end());
  files.insert(files.end(), unit.files_missed.begin(), unit.files_missed.end());
  return files;
}

std::vector<audit::KernelAudit> auditUnit(const frontend::Unit& unit, const explore::Options& options) {
  try {
    return audit::audit(unit, options, audit::Detail::kBatches);
  } catch (const std::exception&) {
    return {};  // the check has said what there is to say
  }
}

}  // namespace

Result<project::Settings> ProjectChecker::settingsOf(const std::string& file) const {
  const std::string path = config_file_.empty() ? config::findFor(file).value_or("") : config_file_;
  const Result<config::Config> config =
      path.empty() ? Result<config::Config>(config::Config{}) : config::load(path);
  if (!config) return config.error();
  return settings_for_(*config);
}

std::shared_ptr<const Checked> ProjectChecker::check(const CheckRequest& request) {
  auto checked = std::make_shared<Checked>();
  checked->report.path = request.file;
  Result<project::Settings> wanted = settingsOf(request.file);
  if (!wanted) {
    checked->report.error = wanted.error();
    return checked;
  }
  project::Settings settings = std::move(*wanted);
  settings.keeps_unit = true;
  settings.frontend.overlay = request.unsaved;
  settings.frontend.cancel = request.cancel;
  settings.explore.cancel = request.cancel;
  project::CheckedFile file = project::checkFile(request.file, settings);
  report::SourceLines sources;
  for (const auto& [path, text] : *request.unsaved) sources.show(path, text);
  project::filterReport(file.report, settings, paths_, sources);
  checked->report = std::move(file.report);
  checked->is_cancelled = file.is_cancelled;
  if (file.unit == nullptr) return checked;
  checked->dependencies = dependenciesOf(request.file, *file.unit, settings.frontend);
  if (!config_file_.empty()) checked->dependencies.push_back(config_file_);
  const auto has_async = [](const diagnose::KernelReport& kernel) { return kernel.has_async; };
  if (std::none_of(checked->report.kernels.begin(), checked->report.kernels.end(), has_async)) return checked;
  checked->audit = [unit = file.unit, options = settings.explore](const CancelToken& cancel) {
    explore::Options own = options;
    own.cancel = &cancel;
    return auditUnit(*unit, own);
  };
  return checked;
}

}  // namespace handoff::lsp
