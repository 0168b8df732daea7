// SPDX-License-Identifier: Apache-2.0
// Asking git.
#include "analyzer/project/changes.h"

#include <llvm/ADT/SmallString.h>
#include <llvm/Support/FileSystem.h>
#include <llvm/Support/FileUtilities.h>
#include <llvm/Support/MemoryBuffer.h>
#include <llvm/Support/Program.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <vector>

namespace handoff::project {
namespace {

/// What the command prints; its complaint as the error.
Result<std::string> runGit(const std::string& git, const std::vector<std::string>& words) {
  llvm::SmallString<128> out, err;
  if (llvm::sys::fs::createTemporaryFile("handoff-git", "out", out) ||
      llvm::sys::fs::createTemporaryFile("handoff-git", "err", err))
    return Error{"git: cannot make a temporary file", {}};
  const llvm::FileRemover remove_out(out), remove_err(err);
  std::vector<llvm::StringRef> arguments = {git};
  arguments.insert(arguments.end(), words.begin(), words.end());
  const std::optional<llvm::StringRef> redirects[] = {llvm::StringRef(""), out.str(), err.str()};
  std::string failure;
  const int status = llvm::sys::ExecuteAndWait(git, arguments, std::nullopt, redirects, 0, 0, &failure);
  const auto text = llvm::MemoryBuffer::getFile(status == 0 ? out : err);
  if (status == 0 && text) return (*text)->getBuffer().str();
  if (failure.empty() && text) failure = (*text)->getBuffer().split('\n').first.str();
  return Error{"git: " + (failure.empty() ? "failed" : failure), {}};
}

/// One place, one name.
std::string canonical(const std::string& path) {
  std::error_code failed;
  const std::filesystem::path full = std::filesystem::weakly_canonical(path, failed);
  return failed ? path : full.string();
}

void addNames(const std::string& names, const std::string& root, std::set<std::string>& files) {
  for (std::size_t begin = 0; begin < names.size();) {
    const std::size_t end = std::min(names.find('\0', begin), names.size());
    if (end > begin) files.insert(canonical(root + "/" + names.substr(begin, end - begin)));
    begin = end + 1;
  }
}

}  // namespace

Result<std::set<std::string>> changedSince(const std::string& revision) {
  const auto git = llvm::sys::findProgramByName("git");
  if (!git) return Error{"--changed-since needs git, which is not on PATH", {}};
  Result<std::string> root = runGit(*git, {"rev-parse", "--show-toplevel"});
  if (!root) return Error{"--changed-since: " + root.error().message, {}};
  while (root->ends_with('\n')) root->pop_back();
  if (const auto known =
          runGit(*git, {"rev-parse", "--verify", "--quiet", "--end-of-options", revision + "^{commit}"});
      !known)
    return Error{"--changed-since: git knows no revision '" + revision + "' here", {}};
  const Result<std::string> changed = runGit(
      *git, {"-C", *root, "diff", "--name-only", "--no-renames", "-z", "--end-of-options", revision, "--"});
  if (!changed) return Error{"--changed-since: " + changed.error().message, {}};
  const Result<std::string> unknown =
      runGit(*git, {"-C", *root, "ls-files", "--others", "--exclude-standard", "-z"});
  if (!unknown) return Error{"--changed-since: " + unknown.error().message, {}};
  std::set<std::string> files;
  addNames(*changed, *root, files);
  addNames(*unknown, *root, files);
  return files;
}

bool Changes::isChanged(const std::string& file) const {
  {
    const std::lock_guard lock(mutex_);
    if (const auto known = known_.find(file); known != known_.end()) return known->second;
  }
  const bool is_changed = changed_.count(file) != 0 || changed_.count(canonical(file)) != 0;
  const std::lock_guard lock(mutex_);
  return known_[file] = is_changed;
}

bool Changes::touch(const std::set<std::string>& files) const {
  return std::any_of(files.begin(), files.end(), [this](const std::string& file) { return isChanged(file); });
}

}  // namespace handoff::project
