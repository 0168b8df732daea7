// SPDX-License-Identifier: Apache-2.0
// expect: handoff::Filling
#include "handoff/thread_ring.h"
__global__ void kernel() {
  __shared__ float4 slots[2];
  handoff::ThreadRing<float4, 2> ring(slots);
  ring.publish(ring.wait());
}
