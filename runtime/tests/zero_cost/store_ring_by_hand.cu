// SPDX-License-Identifier: Apache-2.0
// Two slots written by a block and stored by the copy engine, by hand.
#include <cstdint>

struct alignas(128) Tile {
  float at[1024];
};

__device__ __forceinline__ void store(float* dst, const float* src, std::uint32_t bytes) {
  const std::uint32_t address = static_cast<std::uint32_t>(__cvta_generic_to_shared(src));
  asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(dst), "r"(address), "r"(bytes)
               : "memory");
}
__device__ __forceinline__ void advance(int& slot) { slot = slot + 1 == 2 ? 0 : slot + 1; }

extern "C" __global__ void __launch_bounds__(128) ring(const float* in, float* out, int tiles) {
  __shared__ Tile slots[2];
  const bool issues = threadIdx.x == 0;
  int slot = 0;
  for (int k = 0; k < tiles; ++k) {
    Tile* tile = &slots[slot];
    for (int i = threadIdx.x; i < 1024; i += 128) tile->at[i] = 2 * in[k * 1024 + i];
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    if (issues) asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(0) : "memory");
    __syncthreads();
    if (issues) {
      store(out + k * 1024, tile->at, 4096);
      asm volatile("cp.async.bulk.commit_group;" ::: "memory");
    }
    advance(slot);
  }
  if (issues) asm volatile("cp.async.bulk.wait_group %0;" ::"n"(0) : "memory");
}
