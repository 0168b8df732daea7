// SPDX-License-Identifier: Apache-2.0
// Edits of the program as changes of source lines, in the style of the file.
#pragma once

#include <optional>
#include <vector>

#include "analyzer/diagnose/edit.h"
#include "analyzer/diagnose/finding.h"
#include "analyzer/explore/source_text.h"
#include "analyzer/explore/statement.h"

namespace handoff::explore {

/// The lines of `file` to change so that compiling it would bring the edit about; in the order of the lines, at most one
/// change of each. Empty: it cannot be said in lines, or not without doubt.
std::vector<diagnose::SourceChange> sourceChanges(const machine::Program& program, const Statements& statements,
                                                  const SourceText& text, const std::string& file, const diagnose::Edit& edit);

}  // namespace handoff::explore
