// SPDX-License-Identifier: Apache-2.0
// Findings that are one mistake in the source: the same rule at the same lines, met in several instances of a
// template or several times in one kernel.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analyzer/report/paths.h"
#include "analyzer/report/report.h"

namespace handoff::report {

/// By kernel and finding, the number of its group, from 1 in the order of the file.
using GroupIds = std::vector<std::vector<std::uint32_t>>;
GroupIds groupFindings(const FileReport& file, const Paths& paths);

/// What a person reads about the rest of a group: "also in 2 other instances: k<4>(int), k<8>(int)"; empty
/// when the finding is the only one.
std::string restOfGroup(const FileReport& file, const GroupIds& groups, std::size_t kernel,
                        std::size_t finding);

/// The first of its group is the one that is shown.
bool isFirstOfGroup(const GroupIds& groups, std::size_t kernel, std::size_t finding);

}  // namespace handoff::report
