// SPDX-License-Identifier: Apache-2.0
// Kernel:   a store that is made for some sizes only, behind a barrier, stands between the store of another thread and a read.
// Target:   sm_80
// Expected verdict: violation
// Expected finding: missing-barrier
// Line:     34
// Sizes:    wrong for n <= 0
// Why:      without the barrier and the store in between, the read meets that of the other thread, which nothing orders.
// wrong-size: n=0
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
    __shared__ alignas(16) float4 buf[128];
    __shared__ float x[128];
    const int t = threadIdx.x;
    cp_async16(&buf[t], in + t);
    cp_async_commit();
    cp_async_wait<0>();
    __syncthreads();
    out[t] = buf[t ^ 32].x;
    if (t < 32) x[t + 32] = 1.f;
    if (n > 0) {
        __syncthreads();
        if (t >= 32 && t < 64) x[t] = 2.f;
    }
    if (t >= 32 && t < 64) out[t] += x[t];  // BUG: missing-barrier
}
