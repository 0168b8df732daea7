// SPDX-License-Identifier: Apache-2.0
// Findings that were there before: the file that lists them, and the comparison with a run
// (docs/baseline.md).
//
// The file is JSON, one finding a line in the order of file, kernel, rule and fingerprint, so that a change
// of it is read like a change of the code. Only `fingerprint` counts; the rest is for whoever reviews it, and
// for saying what a finding was once it is gone. It holds no line number, no message and no version of the
// tool, which would change without anybody having touched the code.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analyzer/report/paths.h"
#include "analyzer/report/report.h"
#include "analyzer/report/source_lines.h"
#include "analyzer/support/result.h"

namespace handoff::report {

struct BaselineEntry {
  std::string fingerprint;
  std::string rule, kernel;
  std::string file;    ///< from the root of the repository
  std::string input;   ///< the file that was checked, when it is another one: `file` is a header
  std::string source;  ///< the line, without the blanks around it

  const std::string& checkedFile() const { return input.empty() ? file : input; }
};

struct Baseline {
  std::vector<BaselineEntry>
      entries;  ///< sorted as in the file, each fingerprint once; changed by these only:

  bool contains(std::string_view fingerprint) const { return fingerprints_.contains(fingerprint); }
  /// Adds what is not there yet.
  void add(std::vector<BaselineEntry> more);
  void remove(const std::function<bool(const BaselineEntry&)>& is_unwanted);

 private:
  std::set<std::string, std::less<>> fingerprints_;
};

/// The findings of a file that a baseline would hold: those that are reported, and those that one took out
/// before.
std::vector<BaselineEntry> baselineEntries(const FileReport& file, const Paths& paths, SourceLines& sources);

/// Errors have a line.
Result<Baseline> readBaseline(const std::string& path);
Result<Baseline> parseBaseline(std::string_view text, const std::string& name);
std::string printBaseline(const Baseline& baseline);

/// Moves findings that are in the baseline to `set_aside`. A kernel that has such a finding is at best
/// `bounded`, with a limit that says so: that a mistake is known does not make the kernel right.
void applyBaseline(FileReport& file, const Baseline& baseline, const Paths& paths);

/// What a run looked at. A finding that it does not have is gone only if it would have met it.
class Coverage {
 public:
  /// `is_on`: whether the check was switched on.
  explicit Coverage(std::function<bool(std::string_view rule)> is_on) : is_on_(std::move(is_on)) {}

  /// `is_whole`: the command line left no kernel of the file out.
  void add(const FileReport& file, const Paths& paths, bool is_whole);
  /// Files of the baseline that are no more: they hold no findings. None is taken for missing when all are,
  /// which says that the run took place somewhere else.
  void addMissing(const Baseline& baseline, const std::string& root);

  bool covers(const BaselineEntry& entry) const;

 private:
  std::function<bool(std::string_view)> is_on_;
  std::set<std::string, std::less<>> files_;  ///< that were checked, and those that are missing
  std::set<std::pair<std::string, std::string>>
      open_;  ///< kernels (file, name) that were not checked to the end
};

struct BaselineDiff {
  std::vector<BaselineEntry> added, gone, unchanged;  ///< gone: "fixed", as users say
  std::vector<BaselineEntry> unjudged;  ///< not met, in files or by checks that the run left out
};

/// `is_covered`: whether the newer side would have an entry if it were still there.
BaselineDiff compare(const Baseline& before, const Baseline& after,
                     const std::function<bool(const BaselineEntry&)>& is_covered);

/// What a person reads, or a JSON object.
std::string renderDiff(const BaselineDiff& diff);
std::string renderDiffJson(const BaselineDiff& diff);

}  // namespace handoff::report
