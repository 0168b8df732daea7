// SPDX-License-Identifier: Apache-2.0
// Findings and repairs in the YAML of clang-tidy's --export-fixes, which clang-apply-replacements and editors
// read.
#pragma once

#include <string>
#include <vector>

#include "analyzer/report/paths.h"
#include "analyzer/report/report.h"
#include "analyzer/report/source_lines.h"

namespace handoff::report {

/// Collects the files of a run. Every reported finding is a diagnostic; those whose repair `--fix` would
/// write have its replacements, so that applying them gives what `--fix` gives. Call it before `--fix`
/// changes a file.
class FixExport {
 public:
  explicit FixExport(std::string working_dir) : working_dir_(std::move(working_dir)) {}

  void add(const FileReport& file, const Paths& paths, SourceLines& sources);
  /// One YAML document.
  std::string render() const;

 private:
  struct Note {
    std::string message, path;
    std::size_t offset = 0;
  };
  struct Change {
    std::string path, text;
    std::size_t offset = 0, length = 0;
  };
  struct Item {
    std::string rule;
    bool is_error = false;
    Note message;
    std::vector<Note> notes;
    std::vector<Change> changes;
  };
  Note noteAt(const std::string& message, const SourcePos& pos, SourceLines& sources) const;

  std::string working_dir_;
  std::vector<Item> items_;
};

}  // namespace handoff::report
