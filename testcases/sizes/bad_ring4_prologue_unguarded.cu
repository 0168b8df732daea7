// SPDX-License-Identifier: Apache-2.0
// Kernel:   a four-stage cp.async ring; the first three tiles are fetched before the loop, and slot 1 serves
//           for a sum over the block behind it.
// Target:   sm_80
// Expected verdict: violation
// Expected finding: overlapping-copies
// Also acceptable: leaked-copy
// Line:     37
// Sizes:    wrong for tiles <= 1, also for none, right from 2 on (for 2 the surplus copy is in flight at the
//           end of the kernel, into a slot that nobody uses)
// Why:      the prologue fetches three tiles although there may be fewer, and nobody waits for the surplus: its
//           copies meet the sums.
// wrong-size: tiles=1
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
__global__ void sum_tiles(const float4* in, float* out, int tiles) {
    __shared__ alignas(16) float4 ring[4][128];
    const int t = threadIdx.x;
    const float4* src = in + static_cast<size_t>(blockIdx.x) * tiles * 128 + t;

    for (int s = 0; s < 3; ++s) {
        cp_async16(&ring[s][t], src + s * 128);  // BUG: overlapping-copies
        cp_async_commit();
    }
    float sum = 0.f;
    for (int k = 0; k < tiles; ++k) {
        cp_async_wait<2>();
        __syncthreads();  // tile k is there, and everybody is done with tile k - 1
        sum += ring[k % 4][127 - t].x;
        if (tiles - k > 3) cp_async16(&ring[(k + 3) % 4][t], src + static_cast<size_t>(k + 3) * 128);
        cp_async_commit();
    }
    __syncthreads();
    ring[1][t].x = sum;
    __syncthreads();
    out[blockIdx.x * 128 + t] = sum + ring[1][127 - t].x;
}
