// SPDX-License-Identifier: Apache-2.0
// Kernel:   two copies behind the last read of a slot, the inner one within two conditions that no usual size meets.
// Target:   sm_80
// Expected verdict: not-verified
// Expected finding: premature-overwrite
// Line:     30
// Sizes:    wrong for rows = 777 and columns = 3
// Why:      the inner condition is met only by runs that make the outer copy.
// wrong-size: rows=777 columns=3
// right-size: rows=777 columns=4
#include <cstdint>
#include <cuda_runtime.h>
__device__ __forceinline__ uint32_t smem_addr(const void* p) { return static_cast<uint32_t>(__cvta_generic_to_shared(p)); }
__device__ __forceinline__ void cp_async16(void* dst, const void* src) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(smem_addr(dst)), "l"(src) : "memory");
}
__device__ __forceinline__ void cp_async_commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int N> __device__ __forceinline__ void cp_async_wait() { asm volatile("cp.async.wait_group %0;" ::"n"(N) : "memory"); }
// handoff: launch block=128
__global__ void k(const float4* in, float* out, int rows, int columns) {
    __shared__ alignas(16) float4 buf[2][128];
    const int t = threadIdx.x;
    cp_async16(&buf[0][t], in + t);
    cp_async_commit();
    cp_async_wait<0>();
    __syncthreads();
    out[t] = buf[0][t ^ 32].x;
    if (rows == 777) {
        cp_async16(&buf[1][t], in + 128 + t);
        if (columns == 3) cp_async16(&buf[0][t], in + 256 + t);  // BUG: premature-overwrite
    }
    cp_async_commit();
    cp_async_wait<0>();
    __syncthreads();
    out[128 + t] = buf[1][t ^ 32].x;
}
