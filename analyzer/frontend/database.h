// SPDX-License-Identifier: Apache-2.0
// compile_commands.json.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/support/result.h"

namespace handoff::frontend {

class Database {
 public:
  struct Entry {
    std::string file;                ///< absolute
    std::string directory;           ///< absolute
    std::vector<std::string> words;  ///< the compiler first
  };

  /// Errors: no file, no JSON, no list of commands; with the position where there is one.
  static Result<std::shared_ptr<const Database>> read(const std::string& path);

  const std::string& path() const { return path_; }
  /// A file may have several.
  const std::vector<Entry>& entries() const { return entries_; }

 private:
  Database(std::string path, std::vector<Entry> entries) : path_(std::move(path)), entries_(std::move(entries)) {}

  std::string path_;
  std::vector<Entry> entries_;
};

/// .cu, .cuh, or a language flag that says so.
bool isCuda(const Database::Entry& entry);

/// What -p names: the folder of a database, or the file itself.
std::string databaseIn(const std::string& build_path);

/// Where nearestDatabase looks, the first that is there counts: each folder above the file and its folder "build", as
/// clangd does.
std::vector<std::string> databaseCandidates(const std::string& file);

/// The nearest one of a file.
std::optional<std::string> nearestDatabase(const std::string& file);

}  // namespace handoff::frontend
