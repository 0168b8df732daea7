// SPDX-License-Identifier: Apache-2.0
// Tries candidate repairs by running the changed program.
#pragma once

#include <optional>

#include "analyzer/diagnose/diagnose.h"

namespace handoff::explore {

/// `function` with the edit applied; branch targets stay right, and a jump to the place of an insertion runs it.
ptx::Function applyEdit(const ptx::Function& function, const diagnose::Edit& edit);

/// The first of the diagnosis' edits under which the same launch shows neither this finding nor any that was not there
/// before. `all` are the findings of the unchanged run.
std::optional<diagnose::Repair> tryRepairs(const diagnose::Run& run, const machine::RunOptions& options,
                                           const diagnose::Diagnosis& diagnosis,
                                           const std::vector<diagnose::Diagnosis>& all);

}  // namespace handoff::explore
