// SPDX-License-Identifier: Apache-2.0
// Loops that ask for the phase of an mbarrier, and may give up before it is over.
#pragma once

#include <vector>

#include "analyzer/ptx/module.h"

namespace handoff::machine {

/// Polls in loops of nothing but polls that can be left without one of them having returned true, other than into a trap.
/// No run fails a poll so often as to get there.
std::vector<ptx::InstrIndex> pollsThatGiveUp(const ptx::Function& function);

}  // namespace handoff::machine
