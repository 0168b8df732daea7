// SPDX-License-Identifier: Apache-2.0
// Kernels in which an mbarrier may end, or begin anew, after somebody has used it.
#pragma once

#include "analyzer/machine/program.h"

namespace handoff::machine {

/// True if the kernel has an mbarrier.inval, or an mbarrier.init that some way leads to from another operation on a
/// barrier. In all others, objects live as long as their CTA.
bool endsBarriers(const Program& program);

}  // namespace handoff::machine
