// SPDX-License-Identifier: Apache-2.0
// Kernel:   a double buffer with the barrier that ends a turn left out in the last one; buffer 0 then serves
//           for a sum over the block.
// Target:   sm_80
// Expected verdict: verified
// Sizes:    right for all
// Why:      the barrier ends the last turn, too.
// right-size: tiles=1
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
__global__ void block_sum(const float4* in, float* out, int tiles) {
    __shared__ alignas(16) float4 buf[2][128];
    const int t = threadIdx.x;
    const float4* src = in + static_cast<size_t>(blockIdx.x) * tiles * 128 + t;

    if (tiles > 0) cp_async16(&buf[0][t], src);
    cp_async_commit();
    float sum = 0.f;
    for (int k = 0; k < tiles; ++k) {
        if (k < tiles - 1) cp_async16(&buf[(k + 1) & 1][t], src + static_cast<size_t>(k + 1) * 128);
        cp_async_commit();
        cp_async_wait<1>();
        __syncthreads();
        sum += buf[k & 1][127 - t].x;
        __syncthreads();
    }
    buf[0][t].x = sum;
    __syncthreads();
    if (t == 0) {
        float all = 0.f;
        for (int i = 0; i < 128; ++i) all += buf[0][i].x;
        out[blockIdx.x] = all;
    }
}
