// SPDX-License-Identifier: Apache-2.0
// Kernel:   a seven-stage cp.async ring with six tiles in flight; the slot starts at 3 and goes on by 5 modulo
//           7.
// Target:   sm_80
// Expected verdict: verified
// Sizes:    right for all
// Why:      5 and 7 have no common divisor, so seven tiles in a row have seven slots; the sum stays below 12
//           and never wraps.
// right-size: tiles=8
// right-size: tiles=100
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
__global__ void stride_ring(const float4* in, float* out, int tiles) {
    __shared__ alignas(16) float4 ring[7][128];
    const int t = threadIdx.x;
    const float4* src = in + static_cast<size_t>(blockIdx.x) * tiles * 128 + t;
    auto next = [](int slot) { return (slot + 5) % 7; };
    int fill = 3, use = 3;


    for (int s = 0; s < 6; ++s, fill = next(fill)) {
        if (s < tiles) cp_async16(&ring[fill][t], src + s * 128);
        cp_async_commit();
    }
    float sum = 0.f;
    for (int k = 0; k < tiles; ++k, use = next(use), fill = next(fill)) {
        cp_async_wait<5>();
        __syncthreads();
        sum += ring[use][127 - t].x;
        if (tiles - k > 6) cp_async16(&ring[fill][t], src + static_cast<size_t>(k + 6) * 128);
        cp_async_commit();
    }
    out[blockIdx.x * 128 + t] = sum;
}
