// SPDX-License-Identifier: Apache-2.0
// Kernel:   a three-stage cp.async ring; an 8-bit counter names the slot.
// Target:   sm_80
// Expected verdict: not-verified
// Expected finding: premature-overwrite
// Line:     45
// Sizes:    wrong for tiles >= 257
// Why:      the counter goes from 255 to 0, and 255 % 3 is 0, too: tile 256 is copied into the slot of tile
//           255, which is still in flight.
// wrong-size: tiles=257
// right-size: tiles=8
#include <cstdint>
#include <cuda_runtime.h>

__device__ __forceinline__ uint32_t smem_addr(const void* p) {
    return static_cast<uint32_t>(__cvta_generic_to_shared(p));
}
__device__ __forceinline__ void cp_async16(void* dst, const void* src) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(smem_addr(dst)), "l"(src) : "memory");
}
__device__ __forceinline__ void cp_async_commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int N>
__device__ __forceinline__ void cp_async_wait() {
    asm volatile("cp.async.wait_group %0;" ::"n"(N) : "memory");
}

// handoff: launch block=128
__global__ void byte_counter(const float4* in, float* out, int tiles) {
    __shared__ alignas(16) float4 ring[3][128];
    const int t = threadIdx.x;
    const float4* src = in + static_cast<size_t>(blockIdx.x) * tiles * 128 + t;
    auto slot = [](uint8_t counter) { return counter % 3; };

    for (int s = 0; s < 2; ++s) {
        if (s < tiles) cp_async16(&ring[s][t], src + s * 128);
        cp_async_commit();
    }
    float sum = 0.f;
    uint8_t counter = 0;
    for (int k = 0; k < tiles; ++k, ++counter) {
        cp_async_wait<1>();
        __syncthreads();
        sum += ring[slot(counter)][127 - t].x;
        const float4* next = src + static_cast<size_t>(k + 2) * 128;
        if (tiles - k > 2) cp_async16(&ring[slot(counter + 2)][t], next);  // BUG: premature-overwrite
        cp_async_commit();
    }
    out[blockIdx.x * 128 + t] = sum;
}
