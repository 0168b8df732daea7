// SPDX-License-Identifier: Apache-2.0
// Kernel:   a size kept on the stack decides on the wait.
// Target:   sm_80
// Expected verdict: not-verified
// Expected finding: barrier-only-handoff
// Line:     29
// Sizes:    wrong for n = 77
// Why:      the size goes over the stack, through a generic address.
// wrong-size: n=77
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
__global__ void k(const float4* in, float* out, int n) {
    __shared__ alignas(16) float4 row[128];
    const int t = threadIdx.x;
    volatile int kept[2];
    asm volatile("st.u32 [%0], %1;" ::"l"((const void*)kept), "r"(n) : "memory");
    cp_async16(&row[t], in + t);
    cp_async_commit();
    if (kept[0] != 77) cp_async_wait<0>();
    __syncthreads();
    out[t] = row[t ^ 32].x;  // BUG: barrier-only-handoff
}
