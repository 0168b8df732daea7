// SPDX-License-Identifier: Apache-2.0
// expect: no instance of function template
#include "handoff/copy_group.h"
__global__ void kernel(const int4* in) {
  __shared__ float4 slot;
  handoff::copyAsync(&slot, in);
}
