// SPDX-License-Identifier: Apache-2.0
// The CUDA toolkit of this machine.
#pragma once

#include <optional>
#include <string>

#include "analyzer/frontend/input.h"

namespace handoff::frontend {

struct Toolkit {
  std::string path;  ///< holds include/cuda_runtime.h
  unsigned major = 0, minor = 0;
  std::string nvcc;  ///< path of the compiler; empty when the toolkit comes without it
};

/// Empty when there is none or Options::no_toolkit is set. `command_path` is what the compile command says,
/// used when the options name no toolkit. Errors: a toolkit that the user named is not one.
Result<std::optional<Toolkit>> findToolkit(const Options& options, const std::string& command_path);

}  // namespace handoff::frontend
