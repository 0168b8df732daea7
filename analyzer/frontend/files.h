// SPDX-License-Identifier: Apache-2.0
// Paths and files: reading, making absolute, and turning a compiler's path back into the user's.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "analyzer/support/result.h"

namespace handoff::frontend {

/// The whole file. Errors name the reason ("no such file or directory", "is a directory").
Result<std::string> readFile(const std::string& path);

/// Absolute and without "." and ".."; relative to `directory`, or to the current one when that is empty.
std::string absolutePath(const std::string& path, const std::string& directory = {});

/// Rewrites the paths that compilers report into the user's terms: the input as it was given, its neighbours
/// relative to that, files below the current directory relative when the input was, everything else absolute
/// and normalised.
class PathMap {
 public:
  /// `directory` is the folder the compiler ran in.
  PathMap(std::string user_file, std::string directory);
  std::string display(const std::string& path) const;

 private:
  std::string compute(const std::string& path) const;

  std::string user_file_, user_folder_;  ///< as given; the folder with its "/", or empty
  std::string main_file_, main_folder_;  ///< absolute; the folder with its "/"
  std::string current_;  ///< current directory with its "/"; empty when the input was given absolute
  std::string directory_;
  mutable std::map<std::string, std::string> known_;  ///< answers so far; so one thread at a time
};

/// A private folder below $TMPDIR, removed with everything in it.
class TempFolder {
 public:
  static Result<TempFolder> create();
  TempFolder(TempFolder&& other) noexcept : path_(std::move(other.path_)) { other.path_.clear(); }
  TempFolder& operator=(TempFolder&&) = delete;
  ~TempFolder();
  const std::string& path() const { return path_; }

 private:
  explicit TempFolder(std::string path) : path_(std::move(path)) {}
  std::string path_;
};

}  // namespace handoff::frontend
