// SPDX-License-Identifier: Apache-2.0
// expect: no copy can be in flight while tiles are read from all slots
#include "handoff/thread_ring.h"
__global__ void kernel() {
  __shared__ float4 slots[1];
  handoff::ThreadRing<float4, 1> ring(slots);
}
