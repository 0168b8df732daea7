// SPDX-License-Identifier: Apache-2.0
// expect: cannot be bound to an lvalue
#include "handoff/thread_ring.h"
__global__ void kernel() {
  __shared__ float4 slots[2];
  handoff::ThreadRing<float4, 2> ring(slots);
  auto filling = ring.acquire();
  ring.publish(filling);
}
