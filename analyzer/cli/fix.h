// SPDX-License-Identifier: Apache-2.0
// --fix: repairs written to the source file.
#pragma once

#include <cstddef>
#include <functional>
#include <string>

#include "analyzer/report/report.h"

namespace handoff::cli {

/// How bad a file is: findings of any kind, and kernels or files that could not be checked, which outweigh them.
std::size_t weightOf(const report::FileReport& file);

/// Writes the repairs of `shown` to its file, analyses the file again by `check`, and takes them back when that is no
/// better than `weight`, that of the file before. `shown` has only the findings that the user sees. Returns what was done,
/// one line, or "" when there was nothing to do.
Result<std::string> fixFile(const report::FileReport& shown, std::size_t weight, const std::function<report::FileReport()>& check);

}  // namespace handoff::cli
