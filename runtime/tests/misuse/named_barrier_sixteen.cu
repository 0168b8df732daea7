// SPDX-License-Identifier: Apache-2.0
// expect: a block has barriers 1 to 15 beside barrier 0
#include "handoff/named_barrier.h"
__global__ void kernel() { handoff::NamedBarriers<14, 3, 64>::sync(0); }
