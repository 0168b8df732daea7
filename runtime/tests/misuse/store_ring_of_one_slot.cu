// SPDX-License-Identifier: Apache-2.0
// expect: no store can be in flight while the next tile is written
#include "handoff/store_ring.h"
__global__ void kernel() {
  __shared__ float4 slots[1];
  handoff::StoreRing<float4, 1> ring(slots, true);
}
