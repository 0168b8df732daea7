// SPDX-License-Identifier: Apache-2.0
// Kernel:   persistent blocks; a tile is K / 32 chunks through two buffers with one barrier a turn.
// Target:   sm_80
// Expected verdict: silent
// Sizes:    right for all
// Why:      a barrier separates the tiles of a block.
// right-size: total=5 grid=4 K=32
// right-size: total=512 K=512
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
__global__ void persistent(const float4* in, float* out, int total, int K) {
    __shared__ alignas(16) float4 buf[2][128];
    const int t = threadIdx.x;
    const int chunks = K / 32;
    if (chunks <= 0) return;

    for (long long tile = blockIdx.x; tile < total; tile += gridDim.x) {
        const float4* src = in + tile * chunks * 128 + t;
        __syncthreads();
        cp_async16(&buf[0][t], src);
        cp_async_commit();
        float sum = 0.f;
        for (int k = 0; k < chunks; ++k) {
            cp_async_wait<0>();
            __syncthreads();  // chunk k is there, and everybody is done with chunk k - 1
            if (k + 1 < chunks) {
                cp_async16(&buf[(k + 1) & 1][t], src + static_cast<size_t>(k + 1) * 128);
                cp_async_commit();
            }
            sum += buf[k & 1][127 - t].x;
        }
        out[tile * 128 + t] = sum;
    }
}
