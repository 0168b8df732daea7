// SPDX-License-Identifier: Apache-2.0
// expect: whole warps arrive at a barrier
#include "handoff/named_barrier.h"
__global__ void kernel() { handoff::NamedBarriers<1, 2, 48>::sync(0); }
