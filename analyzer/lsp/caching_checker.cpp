// SPDX-License-Identifier: Apache-2.0
// Hashes of contents.
#include "analyzer/lsp/caching_checker.h"

#include <llvm/Support/xxhash.h>
#include <sys/stat.h>

#include <algorithm>
#include <chrono>

#include "analyzer/frontend/files.h"

namespace handoff::lsp {
namespace {

std::uint64_t hashText(std::string_view text) {
  return std::max<std::uint64_t>(llvm::xxh3_64bits(llvm::StringRef(text)), 1);
}

/// A file that changed during a check may have been read before or after. Times of files lag behind by a tick
/// of the kernel.
bool hasChangedSince(const std::string& path, std::chrono::system_clock::time_point start) {
  constexpr std::chrono::milliseconds kTick{10};
  struct stat status{};
  if (stat(path.c_str(), &status) != 0) return false;
  const auto changed =
      std::chrono::seconds(status.st_mtim.tv_sec) + std::chrono::nanoseconds(status.st_mtim.tv_nsec);
  return changed >= start.time_since_epoch() - kTick;
}

}  // namespace

std::shared_ptr<const Checked> CachingChecker::check(const CheckRequest& request) {
  Entry last;
  {
    const std::lock_guard lock(mutex_);
    if (const auto found = entries_.find(request.file); found != entries_.end()) last = found->second;
  }
  if (last.checked && isCurrent(last, request.texts)) return last.checked;
  const auto start = std::chrono::system_clock::now();
  std::shared_ptr<const Checked> checked = checker_.check(request);
  Entry entry{{}, checked};
  bool is_stable = !checked->is_cancelled && !checked->dependencies.empty();
  for (const std::string& path : checked->dependencies) {
    if (!is_stable) break;
    is_stable = request.texts.contains(path) || !hasChangedSince(path, start);
    entry.inputs.emplace_back(path, hashOf(path, request.texts));
  }
  const std::lock_guard lock(mutex_);
  if (is_stable)
    entries_[request.file] = std::move(entry);
  else
    entries_.erase(request.file);
  return checked;
}

bool CachingChecker::isCurrent(const Entry& entry, const Texts& texts) {
  return std::all_of(entry.inputs.begin(), entry.inputs.end(),
                     [&](const auto& input) { return hashOf(input.first, texts) == input.second; });
}

CachingChecker::Hash CachingChecker::hashOf(const std::string& path, const Texts& texts) {
  const auto found = texts.find(path);
  return found != texts.end() ? hashText(found->second->content()) : hashOfDisk(path);
}

CachingChecker::Hash CachingChecker::hashOfDisk(const std::string& path) {
  struct stat status{};
  if (stat(path.c_str(), &status) != 0) return kAbsent;
  const Stamp stamp{status.st_mtim.tv_sec, status.st_mtim.tv_nsec, status.st_size, status.st_ino};
  {
    const std::lock_guard lock(mutex_);
    if (const auto known = disk_.find(path); known != disk_.end() && known->second.first == stamp)
      return known->second.second;
  }
  const Result<std::string> text = frontend::readFile(path);
  const Hash hash = text ? hashText(*text) : kAbsent;
  const std::lock_guard lock(mutex_);
  disk_[path] = {stamp, hash};
  return hash;
}

}  // namespace handoff::lsp
