// SPDX-License-Identifier: Apache-2.0
// expect: only the tiles of the window are still there
#include "handoff/thread_ring.h"
__global__ void kernel(float* out) {
  __shared__ float4 slots[4];
  handoff::ThreadRing<float4, 4, 2> ring(slots);
  auto ready = ring.wait();
  *out = ring.before<2>(ready).x;
}
