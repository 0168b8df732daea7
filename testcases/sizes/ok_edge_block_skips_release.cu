// SPDX-License-Identifier: Apache-2.0
// Kernel:   each block sums 64 of M rows in K tiles of 32 columns, through one buffer; the block at the edge
//           has a path of its own with guarded copies.
// Target:   sm_80
// Expected verdict: verified
// Sizes:    right for all
// Why:      both paths end a turn with a barrier.
// right-size: M=1 K=64
// right-size: M=512 K=512
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

__device__ __forceinline__ float4 use(const float4 (&buf)[128], int t) { return buf[127 - t]; }

// handoff: launch block=128
__global__ void row_blocks(const float4* in, float* out, int M, int K) {
    __shared__ alignas(16) float4 buf[128];
    const int t = threadIdx.x;
    const int steps = K / 32;
    const int rows = M - static_cast<int>(blockIdx.x) * 64;
    if (rows <= 0) return;
    const float4* src = in + static_cast<size_t>(blockIdx.x) * steps * 128 + t;
    float sum = 0.f;

    if (rows >= 64) {
        for (int k = 0; k < steps; ++k) {
            cp_async16(&buf[t], src + static_cast<size_t>(k) * 128);
            cp_async_commit();
            cp_async_wait<0>();
            __syncthreads();
            sum += use(buf, t).x;
            __syncthreads();
        }
    } else {
        for (int k = 0; k < steps; ++k) {
            if (t / 2 < rows) cp_async16(&buf[t], src + static_cast<size_t>(k) * 128);
            cp_async_commit();
            cp_async_wait<0>();
            __syncthreads();
            if ((127 - t) / 2 < rows) sum += use(buf, t).x;
            __syncthreads();
        }
    }
    out[blockIdx.x * 128 + t] = sum;
}
