// SPDX-License-Identifier: Apache-2.0
// Kernel:   the wait is left out where there is no bias.
// Target:   sm_80
// Expected verdict: not-verified
// Expected finding: barrier-only-handoff,missing-wait
// Line:     26
// Sizes:    wrong for a null pointer, and n > 1
// Why:      the pointers of a run are those of buffers.
// right-size: n=1
#include <cstdint>
#include <cuda_runtime.h>
__device__ __forceinline__ uint32_t smem_addr(const void* p) { return static_cast<uint32_t>(__cvta_generic_to_shared(p)); }
__device__ __forceinline__ void cp_async16(void* dst, const void* src) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(smem_addr(dst)), "l"(src) : "memory");
}
__device__ __forceinline__ void cp_async_commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int N> __device__ __forceinline__ void cp_async_wait() { asm volatile("cp.async.wait_group %0;" ::"n"(N) : "memory"); }
// handoff: launch block=128
__global__ void k(const float4* in, const float* bias, float* out, int n) {
    __shared__ alignas(16) float4 buf[128];
    const int t = threadIdx.x;
    cp_async16(&buf[t], in + t);
    cp_async_commit();
    if (bias != nullptr || n == 1) cp_async_wait<0>();
    __syncthreads();
    out[t] = buf[t ^ 32].x;  // BUG: barrier-only-handoff
}
