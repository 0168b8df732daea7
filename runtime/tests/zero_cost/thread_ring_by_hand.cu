// SPDX-License-Identifier: Apache-2.0
// Four slots filled with cp.async, by hand.
#include <cstdint>

struct Tile {
  float4 at[128];
};

__device__ __forceinline__ void copy(float4* dst, const float4* src) {
  const std::uint32_t address = static_cast<std::uint32_t>(__cvta_generic_to_shared(dst));
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(address), "l"(src) : "memory");
}
__device__ __forceinline__ void advance(int& slot) { slot = slot + 1 == 4 ? 0 : slot + 1; }

extern "C" __global__ void __launch_bounds__(128) ring(const float4* in, float4* out, int tiles) {
  __shared__ Tile slots[4];
  const int t = threadIdx.x;
  int fill = 0, read = 0;
  for (int k = 0; k < 3; ++k) {
    Tile* filling = &slots[fill];
    if (k < tiles) copy(&filling->at[t], &in[k * 128 + t]);
    asm volatile("cp.async.commit_group;" ::: "memory");
    advance(fill);
  }
  for (int k = 0; k < tiles; ++k) {
    asm volatile("cp.async.wait_group %0;" ::"n"(2) : "memory");
    __syncthreads();
    const Tile* ready = &slots[read];
    Tile* filling = &slots[fill];
    if (k + 3 < tiles) copy(&filling->at[t], &in[(k + 3) * 128 + t]);
    asm volatile("cp.async.commit_group;" ::: "memory");
    advance(fill);
    const float4 value = ready->at[127 - t];
    out[k * 128 + t] = value;
    advance(read);
  }
}
