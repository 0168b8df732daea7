// SPDX-License-Identifier: Apache-2.0
// From the arguments of `handoff check` to the files it reads.
#pragma once

#include <string>
#include <vector>

#include "analyzer/cli/options.h"
#include "analyzer/support/result.h"

namespace handoff::cli {

/// Files as given; folders as the .cu and .ptx files below them, by name; without any argument and with -p,
/// the CUDA files of the database. Each file once.
Result<std::vector<std::string>> expandInputs(const CheckOptions& options);

}  // namespace handoff::cli
