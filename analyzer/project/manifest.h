// SPDX-License-Identifier: Apache-2.0
// What a translation unit was made of. As long as all of it is as it was, what was found in it holds.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "analyzer/project/cache.h"

namespace handoff::project {

struct FileStamp {
  std::string path;  ///< absolute
  std::uint64_t size = 0;
  std::int64_t modified = 0;  ///< nanoseconds; 0: do not go by it
  Hash content{};
};

template <typename A>
void fields(A& archive, FileStamp& stamp) {
  auto& [path, size, modified, content] = stamp;
  all(archive, path, size, modified, content);
}

struct Manifest {
  std::vector<FileStamp> files;  ///< that were read
  std::vector<std::string>
      missed;  ///< that were looked for and not there: one that appears may be found first
};

template <typename A>
void fields(A& archive, Manifest& manifest) {
  auto& [files, missed] = manifest;
  all(archive, files, missed);
}

/// Content hashes of files, each read once a run however many units include it. For several threads.
class FileHashes {
 public:
  /// Nothing for a file that cannot be read or that changes meanwhile.
  std::optional<FileStamp> stampOf(const std::string& path);

 private:
  std::mutex mutex_;
  std::map<std::string, FileStamp> known_;
};

/// Of a unit whose files were read from `started` (nanoseconds since the epoch) on; nothing when one of them
/// cannot be stamped or has changed since.
std::optional<Manifest> makeManifest(const std::set<std::string>& read, const std::set<std::string>& missed,
                                     std::int64_t started, FileHashes& hashes);

enum class Freshness : std::uint8_t {
  kFresh,      ///< by size and time of every file
  kRetouched,  ///< by content; the stamps have been brought up to date
  kStale,
};
Freshness check(Manifest& manifest, FileHashes& hashes);

/// Nanoseconds since the epoch.
std::int64_t nowInNanoseconds();

}  // namespace handoff::project
