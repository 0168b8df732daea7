// SPDX-License-Identifier: Apache-2.0
// Waits for more groups than the data needs.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "analyzer/audit/audit_report.h"
#include "analyzer/explore/analyze.h"
#include "analyzer/frontend/unit.h"
#include "analyzer/machine/program.h"

namespace handoff::audit {

/// `most_pending`: by instruction of `whole`, the groups that its wait met at most. A wait is reported when the whole
/// analysis, with the count raised, finds nothing that it did not find before.
std::vector<diagnose::Finding> findOverWaits(const frontend::Unit& unit, const ptx::Function& kernel,
                                             const machine::Program& whole,
                                             const std::map<std::uint32_t, std::uint32_t>& most_pending,
                                             const explore::Options& options);

}  // namespace handoff::audit
