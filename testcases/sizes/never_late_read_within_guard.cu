// SPDX-License-Identifier: Apache-2.0
// Kernel:   a ring of one slot, beside which another slot is read, for one number of rows only, and from turn 1000 on the slot itself.
// Target:   sm_80
// Expected verdict: not-verified
// Expected finding: premature-overwrite,missing-barrier
// Line:     28
// Sizes:    wrong for rows = 777 and tiles > 1000
// Why:      the loop closes without the read; with it, the turn decides what is read.
// wrong-size: rows=777 tiles=1001
// right-size: rows=777 tiles=8
#include <cstdint>
#include <cuda_runtime.h>
__device__ __forceinline__ uint32_t smem_addr(const void* p) { return static_cast<uint32_t>(__cvta_generic_to_shared(p)); }
__device__ __forceinline__ void cp_async16(void* dst, const void* src) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(smem_addr(dst)), "l"(src) : "memory");
}
__device__ __forceinline__ void cp_async_commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int N> __device__ __forceinline__ void cp_async_wait() { asm volatile("cp.async.wait_group %0;" ::"n"(N) : "memory"); }
// handoff: launch block=128
__global__ void k(const float4* in, float* out, int rows, int tiles) {
    __shared__ alignas(16) float4 buf[2][128];
    const int t = threadIdx.x;
    float sum = 0;
    #pragma unroll 1
    for (int i = 0; i < tiles; ++i) {
        cp_async16(&buf[0][t], in + i * 128 + t);
        cp_async_commit();
        if (rows == 777) sum += buf[i < 1000 ? 1 : 0][t ^ 32].x;  // BUG: premature-overwrite
        cp_async_wait<0>();
        __syncthreads();
        sum += buf[0][t ^ 32].y;
        __syncthreads();
    }
    out[t] = sum;
}
