// SPDX-License-Identifier: Apache-2.0
// Which registers may differ from thread to thread.
#pragma once

#include <vector>

#include "analyzer/ptx/module.h"

namespace handoff::machine {

/// By register of a function without calls: it depends on the index of the thread, as data do that are loaded from an
/// address of its own. What is loaded from one address is taken to be one value. A guess for the choice of runs: it does
/// not follow the branches that a value came by.
std::vector<bool> dependOnThread(const ptx::Function& function);

}  // namespace handoff::machine
