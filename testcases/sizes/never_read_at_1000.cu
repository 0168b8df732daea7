// SPDX-License-Identifier: Apache-2.0
// Kernel:   one cp.async buffer; turn 1000 alone reads it before the wait.
// Target:   sm_80
// Expected verdict: not-verified
// Expected finding: premature-overwrite
// Line:     28
// Sizes:    wrong for tiles >= 1001
// Why:      the read is made in one turn only, which no short run shows.
// wrong-size: tiles=1001
// right-size: tiles=8
#include <cstdint>
#include <cuda_runtime.h>
__device__ __forceinline__ uint32_t smem_addr(const void* p) { return static_cast<uint32_t>(__cvta_generic_to_shared(p)); }
__device__ __forceinline__ void cp_async16(void* dst, const void* src) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(smem_addr(dst)), "l"(src) : "memory");
}
__device__ __forceinline__ void cp_async_commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int N> __device__ __forceinline__ void cp_async_wait() { asm volatile("cp.async.wait_group %0;" ::"n"(N) : "memory"); }
// handoff: launch block=128
__global__ void k(const float4* in, float* out, int tiles) {
    __shared__ alignas(16) float4 buf[128];
    const int t = threadIdx.x;
    float sum = 0;
    #pragma unroll 1
    for (int k = 0; k < tiles; ++k) {
        cp_async16(&buf[t], in + k * 128 + t);
        cp_async_commit();
        if (k == 1000) sum += buf[t ^ 32].y;  // BUG: premature-overwrite
        cp_async_wait<0>();
        __syncthreads();
        sum += buf[t ^ 32].x;
        __syncthreads();
    }
    out[t] = sum;
}
