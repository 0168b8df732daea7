// SPDX-License-Identifier: Apache-2.0
// expect: no instance of constructor
#include "handoff/thread_ring.h"
__global__ void kernel() {
  __shared__ float4 slots[3];
  handoff::ThreadRing<float4, 4> ring(slots);
}
