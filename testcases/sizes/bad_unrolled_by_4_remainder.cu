// SPDX-License-Identifier: Apache-2.0
// Kernel:   rounds of four tiles in two sets of four buffers; the next round is copied while one is used, and
//           what K leaves over after whole rounds is used behind the loop.
// Target:   sm_80
// Expected verdict: violation
// Expected finding: insufficient-wait
// Line:     56
// Sizes:    wrong when K / 32 is no multiple of 4
// Why:      behind the loop no younger group exists, so wait_group 1 leaves the last round pending, of which K
//           / 32 % 4 tiles are used.
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
__global__ void unrolled(const float4* in, float* out, int K) {
    __shared__ alignas(16) float4 ring[2][4][128];
    const int t = threadIdx.x;
    const int steps = K / 32;
    const float4* src = in + static_cast<size_t>(blockIdx.x) * steps * 128 + t;
    auto fetch = [&](int round) {  // the tiles of a round that exist, as one group
#pragma unroll
        for (int u = 0; u < 4; ++u)
            if (round * 4 + u < steps)
                cp_async16(&ring[round & 1][u][t], src + static_cast<size_t>(round * 4 + u) * 128);
        cp_async_commit();
    };

    fetch(0);
    float sum = 0.f;
    const int rounds = steps / 4;
    for (int r = 0; r < rounds; ++r) {
        fetch(r + 1);
        cp_async_wait<1>();
        __syncthreads();
#pragma unroll
        for (int u = 0; u < 4; ++u) sum += ring[r & 1][u][127 - t].x;
        __syncthreads();
    }
    if (steps % 4 > 0) {
        cp_async_wait<1>();
        __syncthreads();
        for (int u = 0; u < steps % 4; ++u) sum += ring[rounds & 1][u][127 - t].x;  // BUG: insufficient-wait
    }
    out[blockIdx.x * 128 + t] = sum;
}
