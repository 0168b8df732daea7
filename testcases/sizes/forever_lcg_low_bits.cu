// SPDX-License-Identifier: Apache-2.0
// Kernel:   a four-stage cp.async ring with three tiles in flight; the slot is the low two bits of a 32-bit
//           linear congruential generator.
// Target:   sm_80
// Expected verdict: silent
// Sizes:    right for all
// Why:      the low two bits of 5 s + 1 depend on the low two bits of s only and run through 0, 1, 2, 3,
//           whatever the high bits do.
// right-size: tiles=8
// right-size: tiles=600
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
__global__ void generator_ring(const float4* in, float* out, unsigned tiles) {
    __shared__ alignas(16) float4 ring[4][128];
    const unsigned t = threadIdx.x;
    const float4* src = in + static_cast<size_t>(blockIdx.x) * tiles * 128 + t;
    auto next = [](unsigned state) { return state * 5 + 1; };
    unsigned fill = 0, use = 0;


    for (unsigned s = 0; s < 3; ++s, fill = next(fill)) {
        if (s < tiles) cp_async16(&ring[fill & 3][t], src + s * 128);
        cp_async_commit();
    }
    float sum = 0.f;
    for (unsigned k = 0; k < tiles; ++k, use = next(use), fill = next(fill)) {
        cp_async_wait<2>();
        __syncthreads();
        sum += ring[use & 3][127 - t].x;
        if (tiles - k > 3) cp_async16(&ring[fill & 3][t], src + static_cast<size_t>(k + 3) * 128);
        cp_async_commit();
    }
    out[blockIdx.x * 128 + t] = sum;
}
