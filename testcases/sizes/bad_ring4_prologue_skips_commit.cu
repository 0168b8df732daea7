// SPDX-License-Identifier: Apache-2.0
// Kernel:   a four-stage cp.async ring over K elements in tiles of 32 columns, with a constant wait_group.
// Target:   sm_80
// Expected verdict: violation
// Expected finding: insufficient-wait
// Line:     42
// Sizes:    wrong for K / 32 = 1 and 2, right from 3 on
// Why:      with fewer tiles than stages the prologue commits fewer than three groups, and wait_group 2 in the
//           first turn leaves the group of tile 0 pending.
// wrong-size: K=32
// right-size: K=512
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
__global__ void row_sums(const float4* in, float* out, int K) {
    __shared__ alignas(16) float4 ring[4][128];
    const int t = threadIdx.x;
    const int steps = K / 32;
    const float4* src = in + static_cast<size_t>(blockIdx.x) * steps * 128 + t;

    for (int s = 0; s < 3; ++s) {
        if (s < steps) {
            cp_async16(&ring[s][t], src + s * 128);
            cp_async_commit();
        }
    }
    float sum = 0.f;
    for (int k = 0; k < steps; ++k) {
        cp_async_wait<2>();  // BUG: insufficient-wait
        __syncthreads();
        sum += ring[k & 3][t ^ 32].x;
        if (steps - k > 3) cp_async16(&ring[(k + 3) & 3][t], src + static_cast<size_t>(k + 3) * 128);
        cp_async_commit();
    }
    out[blockIdx.x * 128 + t] = sum;
}
