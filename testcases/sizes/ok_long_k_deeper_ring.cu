// SPDX-License-Identifier: Apache-2.0
// Kernel:   short sums use two buffers, long ones (K > 2048) a ring of four with three tiles in flight.
// Target:   sm_80
// Expected verdict: verified
// Sizes:    right for all
// Why:      wait_group 2 leaves the two groups that are younger than the tile that is read.
// right-size: K=2080
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
__global__ void adaptive(const float4* in, float* out, int K) {
    __shared__ alignas(16) float4 ring[4][128];
    const int t = threadIdx.x;
    const int steps = K / 32;
    const float4* src = in + static_cast<size_t>(blockIdx.x) * steps * 128 + t;
    const int ahead = steps > 64 ? 3 : 1;

    for (int s = 0; s < ahead; ++s) {
        if (s < steps) cp_async16(&ring[s][t], src + s * 128);
        cp_async_commit();
    }
    float sum = 0.f;
    for (int k = 0; k < steps; ++k) {
        if (ahead == 1)
            cp_async_wait<0>();
        else
            cp_async_wait<2>();
        __syncthreads();
        sum += ring[k & 3][127 - t].x;
        if (steps - k > ahead) cp_async16(&ring[(k + ahead) & 3][t], src + static_cast<size_t>(k + ahead) * 128);
        cp_async_commit();
    }
    out[blockIdx.x * 128 + t] = sum;
}
