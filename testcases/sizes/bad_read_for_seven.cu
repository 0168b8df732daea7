// SPDX-License-Identifier: Apache-2.0
// Kernel:   a buffer that is read before the wait for one size only.
// Target:   sm_80
// Expected verdict: violation
// Expected finding: missing-wait
// Line:     26
// Sizes:    wrong for n = 7
// Why:      only n = 7 makes the read.
// wrong-size: n=7
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
    const int t = threadIdx.x;
    float s = 0;
    cp_async16(&buf[t], in + blockIdx.x * 128 + t);
    cp_async_commit();
    if (n == 7) s += buf[t].y;  // BUG: missing-wait
    cp_async_wait<0>();
    __syncthreads();
    s += buf[t ^ 32].x;
    out[t] = s;
}
