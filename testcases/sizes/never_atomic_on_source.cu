// SPDX-License-Identifier: Apache-2.0
// Kernel:   one size adds to the row that a copy is still reading.
// Target:   sm_80
// Expected verdict: not-verified
// Expected finding: source-overwritten
// Line:     25
// Sizes:    wrong for n = 777
// Why:      an atomic on global memory is a store to the source of the copy like any other.
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
__global__ void k(float* in, float* out, int n) {
    __shared__ alignas(16) float4 row[128];
    const int t = threadIdx.x;
    cp_async16(&row[t], in + 4 * t);
    cp_async_commit();
    if (n == 777) atomicAdd(in + 4 * t, 1.0f);  // BUG: source-overwritten
    cp_async_wait<0>();
    __syncthreads();
    out[t] = row[t ^ 32].x;
}
