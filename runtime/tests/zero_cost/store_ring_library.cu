// SPDX-License-Identifier: Apache-2.0
// Two slots written by a block and stored by the copy engine, with the library.
#include "handoff/store_ring.h"

struct alignas(128) Tile {
  float at[1024];
};

extern "C" __global__ void __launch_bounds__(128) ring(const float* in, float* out, int tiles) {
  __shared__ Tile slots[2];
  handoff::StoreRing<Tile, 2> ring(slots, threadIdx.x == 0);
  for (int k = 0; k < tiles; ++k) {
    auto filling = ring.acquire();
    for (int i = threadIdx.x; i < 1024; i += 128) filling->at[i] = 2 * in[k * 1024 + i];
    ring.publish(std::move(filling), [&](auto& stores, const Tile& tile) {
      stores.store(out + k * 1024, tile.at, handoff::bytesOf<float>(1024));
    });
  }
  ring.drain();
}
