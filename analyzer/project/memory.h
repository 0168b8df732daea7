// SPDX-License-Identifier: Apache-2.0
// What earlier runs said about whole files: found without a compiler, as long as every file that the front
// end read is as it was.
//
// A unit's entry is named by what is known before anything is read: the program, the file's name, its flags,
// the options. It holds the manifest of the files that were read, and the report. Not kept are reports that
// another run might better (cut short by time, memory or the user), failures, reports with witness jobs, and
// those about texts that are not saved.
#pragma once

#include <optional>
#include <set>
#include <string>

#include "analyzer/project/cache.h"
#include "analyzer/project/check_file.h"
#include "analyzer/project/manifest.h"

namespace handoff::project {

/// For several threads.
class Memory {
 public:
  explicit Memory(Cache cache) : cache_(std::move(cache)), program_(hashOfProgram()) {}

  const Cache& cache() const { return cache_; }
  const Hash& program() const { return program_; }

  std::optional<CheckedFile> recall(const std::string& file, const Settings& settings);
  /// `started`: when reading began, nanoseconds since the epoch.
  void keep(const CheckedFile& checked, const Settings& settings, const frontend::Unit& unit,
            std::int64_t started);
  /// The files that a unit was made of, when they still are the same.
  std::optional<std::set<std::string>> filesOf(const std::string& file, const Settings& settings);

 private:
  struct Entry {
    Manifest manifest;
    CheckedFile checked;
  };
  std::optional<Hash> keyOf(const std::string& file, const Settings& settings) const;
  std::optional<Entry> find(const Hash& key);

  Cache cache_;
  Hash program_;
  FileHashes hashes_;
};

}  // namespace handoff::project
