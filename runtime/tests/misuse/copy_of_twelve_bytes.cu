// SPDX-License-Identifier: Apache-2.0
// expect: cp.async copies 4, 8 or 16 bytes
#include "handoff/copy_group.h"
__global__ void kernel(const float3* in) {
  __shared__ float3 slot;
  handoff::copyAsync(&slot, in);
}
