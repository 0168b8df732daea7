// SPDX-License-Identifier: Apache-2.0
// One mistake met in several files of a run: in a header that they include, or in a file that is compiled
// several times. It is reported and counted with the first file; the others are counted there.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "analyzer/report/paths.h"
#include "analyzer/report/report.h"

namespace handoff::report {

class RepeatFinder {
 public:
  /// Marks the findings of the file that an earlier one had. Files come in the order in which they are
  /// reported.
  void mark(FileReport& file, const Paths& paths);

  /// Those that were met in several files, in the order in which they were met first.
  std::vector<Repeat> repeats() const;

 private:
  std::map<std::string, std::size_t> known_;  ///< by rule and position: index in all_
  std::vector<Repeat> all_;
  std::size_t files_ = 0;
};

/// Gives each finding that is repeated the files that repeat it. `report` has all files of the run.
void addRepeats(Report& report);

}  // namespace handoff::report
