// SPDX-License-Identifier: Apache-2.0
// Kernel:   one size reads through a pointer to the row in flight, all others through one to global memory.
// Target:   sm_80
// Expected verdict: not-verified
// Expected finding: premature-overwrite
// Line:     23
// Sizes:    wrong for n = 777
// Why:      the size decides in which memory a generic address lies.
// wrong-size: n=777
// right-size: n=8
#include <cstdint>
#include <cuda_runtime.h>
__device__ __forceinline__ uint32_t smem_addr(const void* p) { return static_cast<uint32_t>(__cvta_generic_to_shared(p)); }
__device__ __forceinline__ void cp_async16(void* dst, const void* src) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(smem_addr(dst)), "l"(src) : "memory");
}
__device__ __forceinline__ void cp_async_commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int N> __device__ __forceinline__ void cp_async_wait() { asm volatile("cp.async.wait_group %0;" ::"n"(N) : "memory"); }
// handoff: launch block=128
__global__ void k(const float4* in, const float* w, float* out, int n) {
    __shared__ alignas(16) float4 row[128];
    const int t = threadIdx.x;
    cp_async16(&row[t], in + t);  // BUG: premature-overwrite
    cp_async_commit();
    const float* p = n == 777 ? &row[t ^ 32].x : w + t;
    const float first = *p;
    cp_async_wait<0>();
    __syncthreads();
    out[t] = first + row[t ^ 32].y;
}
