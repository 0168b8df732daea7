// SPDX-License-Identifier: Apache-2.0
// expect: the destination of a copy is written
#include "handoff/copy_group.h"
__global__ void kernel(const float4* in, const float4* out) { handoff::copyAsync(out, in); }
