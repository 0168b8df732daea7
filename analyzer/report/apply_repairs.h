// SPDX-License-Identifier: Apache-2.0
// Repairs carried out on the text of a file.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "analyzer/diagnose/finding.h"
#include "analyzer/report/file_lines.h"
#include "analyzer/support/result.h"

namespace handoff::report {

/// Whether the repair may be carried out without asking: it was tried, and the finding counts.
bool isApplicable(const diagnose::Finding& finding);

/// A repair that is to be carried out: all of its edits or none.
struct ChosenRepair {
  std::size_t finding = 0;  ///< number of the first finding that has it
  std::vector<TextEdit> edits;
};

struct Choice {
  std::vector<ChosenRepair> repairs;
  unsigned left = 0;  ///< repairs for a line that another repair changes already
};

/// The repairs of these findings that change lines of `file` only. One that several findings share is chosen
/// once. An error when a line is no longer the one that the repair was made for.
Result<Choice> chooseRepairs(const std::string& text, const std::string& file,
                             const std::vector<diagnose::Finding>& findings);

struct Repaired {
  std::string text;
  unsigned applied = 0;
  unsigned left = 0;
};

/// The text with the chosen repairs.
Result<Repaired> applyRepairs(const std::string& text, const std::string& file,
                              const std::vector<diagnose::Finding>& findings);

}  // namespace handoff::report
