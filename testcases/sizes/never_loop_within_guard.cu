// SPDX-License-Identifier: Apache-2.0
// Kernel:   a sum over a table, for one number of rows only, while the second half of the table is filled.
// Target:   sm_80
// Expected verdict: not-verified
// Expected finding: missing-wait
// Line:     30
// Sizes:    wrong for rows = 777 and terms > 512
// Why:      the loop is turned in runs alone that are there for the reads.
// wrong-size: rows=777 terms=600
// right-size: rows=777 terms=512
#include <cstdint>
#include <cuda_runtime.h>
__device__ __forceinline__ uint32_t smem_addr(const void* p) { return static_cast<uint32_t>(__cvta_generic_to_shared(p)); }
__device__ __forceinline__ void cp_async16(void* dst, const void* src) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(smem_addr(dst)), "l"(src) : "memory");
}
__device__ __forceinline__ void cp_async_commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int N> __device__ __forceinline__ void cp_async_wait() { asm volatile("cp.async.wait_group %0;" ::"n"(N) : "memory"); }
// handoff: launch block=128
__global__ void k(const float4* in, float* out, int rows, int terms) {
    __shared__ alignas(16) float buf[1024];
    const int t = threadIdx.x;
    for (int i = t; i < 512; i += 128) buf[i] = i;
    __syncthreads();
    cp_async16(&buf[512 + 4 * t], in + t);
    cp_async_commit();
    if (rows == 777) {
        float sum = 0;
        #pragma unroll 1
        for (int i = 0; i < terms; ++i) sum += buf[i & 1023];  // BUG: missing-wait
        out[t] = sum;
    }
    cp_async_wait<0>();
    __syncthreads();
    out[128 + t] = buf[512 + (t ^ 32)];
}
