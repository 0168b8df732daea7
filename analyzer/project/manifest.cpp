// SPDX-License-Identifier: Apache-2.0
// Stamping files and comparing stamps.
#include "analyzer/project/manifest.h"

#include <llvm/Support/MemoryBuffer.h>
#include <sys/stat.h>
#include <time.h>

#include <algorithm>

namespace handoff::project {
namespace {

/// A file system may give two writes within this time the same time of change: a file changed that recently
/// is always compared by content.
constexpr std::int64_t kTimeGranularity = 2'000'000'000;

std::int64_t nanoseconds(const timespec& time) {
  return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

/// Size and time alone.
std::optional<FileStamp> statusOf(const std::string& path) {
  struct stat status{};
  if (stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return std::nullopt;
  return FileStamp{path, static_cast<std::uint64_t>(status.st_size), nanoseconds(status.st_mtim), {}};
}

bool isSameStatus(const FileStamp& a, const FileStamp& b) {
  return a.size == b.size && a.modified == b.modified;
}

}  // namespace

std::int64_t nowInNanoseconds() {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  return nanoseconds(now);
}

std::optional<FileStamp> FileHashes::stampOf(const std::string& path) {
  std::optional<FileStamp> before = statusOf(path);
  if (!before) return std::nullopt;
  {
    const std::lock_guard lock(mutex_);
    if (const auto known = known_.find(path); known != known_.end() && isSameStatus(known->second, *before))
      return known->second;
  }
  const auto buffer = llvm::MemoryBuffer::getFile(path, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  if (!buffer) return std::nullopt;
  before->content = hashOf((*buffer)->getBuffer());
  const std::optional<FileStamp> after = statusOf(path);
  if (!after || !isSameStatus(*before, *after)) return std::nullopt;
  // Kept by status only where a change would show in it.
  if (before->modified + kTimeGranularity < nowInNanoseconds()) {
    const std::lock_guard lock(mutex_);
    known_[path] = *before;
  }
  return before;
}

std::optional<Manifest> makeManifest(const std::set<std::string>& read, const std::set<std::string>& missed,
                                     std::int64_t started, FileHashes& hashes) {
  Manifest manifest;
  manifest.missed.assign(missed.begin(), missed.end());
  for (const std::string& path : read) {
    std::optional<FileStamp> stamp = hashes.stampOf(path);
    if (!stamp || stamp->modified >= started) return std::nullopt;
    if (stamp->modified + kTimeGranularity >= started) stamp->modified = 0;
    manifest.files.push_back(std::move(*stamp));
  }
  return manifest;
}

Freshness check(Manifest& manifest, FileHashes& hashes) {
  const auto isThere = [](const std::string& path) {
    struct stat status{};
    return stat(path.c_str(), &status) == 0;
  };
  if (std::any_of(manifest.missed.begin(), manifest.missed.end(), isThere)) return Freshness::kStale;
  bool is_retouched = false;
  for (FileStamp& stamp : manifest.files) {
    const std::optional<FileStamp> status = statusOf(stamp.path);
    if (!status || status->size != stamp.size) return Freshness::kStale;
    if (status->modified == stamp.modified) continue;
    std::optional<FileStamp> now = hashes.stampOf(stamp.path);
    if (!now || now->content != stamp.content) return Freshness::kStale;
    if (now->modified + kTimeGranularity >= nowInNanoseconds()) continue;  // still too young to go by
    stamp = std::move(*now);
    is_retouched = true;
  }
  return is_retouched ? Freshness::kRetouched : Freshness::kFresh;
}

}  // namespace handoff::project
