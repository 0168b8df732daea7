// SPDX-License-Identifier: Apache-2.0
// Four slots filled with cp.async, with the library.
#include "handoff/thread_ring.h"

struct Tile {
  float4 at[128];
};

extern "C" __global__ void __launch_bounds__(128) ring(const float4* in, float4* out, int tiles) {
  __shared__ Tile slots[4];
  handoff::ThreadRing<Tile, 4> ring(slots);
  const int t = threadIdx.x;
  for (int k = 0; k < ring.kAhead; ++k) {
    auto filling = ring.acquire();
    if (k < tiles) handoff::copyAsync(&filling->at[t], &in[k * 128 + t]);
    ring.publish(std::move(filling));
  }
  for (int k = 0; k < tiles; ++k) {
    auto ready = ring.wait();
    auto filling = ring.acquire();
    if (k + ring.kAhead < tiles) handoff::copyAsync(&filling->at[t], &in[(k + ring.kAhead) * 128 + t]);
    ring.publish(std::move(filling));
    const float4 value = ready->at[127 - t];
    out[k * 128 + t] = value;
    ring.release(std::move(ready));
  }
}
