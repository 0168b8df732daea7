// SPDX-License-Identifier: Apache-2.0
// Lines of source files for excerpts and suppressions, each file read once.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace handoff::report {

/// Not for use by several threads at a time.
class SourceLines {
 public:
  /// `text` counts instead of what the disk has, whatever path leads to the file.
  void show(const std::string& file, const std::string& text);
  /// Line `number` (from 1) without its end; empty when the file or the line cannot be read.
  std::string_view line(const std::string& file, std::uint32_t number);
  /// All lines; empty when the file cannot be read.
  const std::vector<std::string>& lines(const std::string& file);
  /// The whole file as it is; empty when it cannot be read.
  const std::string& text(const std::string& file);

 private:
  std::map<std::string, std::string> texts_;
  std::map<std::string, std::vector<std::string>> files_;
  std::map<std::string, std::string> shown_;  ///< by absolute path
};

}  // namespace handoff::report
