// SPDX-License-Identifier: Apache-2.0
// Repairs carried out on the text of a file.
#pragma once

#include <string>
#include <vector>

#include "analyzer/diagnose/finding.h"
#include "analyzer/support/result.h"

namespace handoff::report {

struct Repaired {
  std::string text;
  unsigned applied = 0;  ///< repairs; one that several findings share counts once
  unsigned left = 0;     ///< repairs for a line that another repair changes already
};

/// The repairs of these findings that change lines of `file` only; all of a repair or nothing. An error when a line is
/// no longer the one that the repair was made for.
Result<Repaired> applyRepairs(const std::string& text, const std::string& file, const std::vector<diagnose::Finding>& findings);

}  // namespace handoff::report
