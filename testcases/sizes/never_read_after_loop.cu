// SPDX-License-Identifier: Apache-2.0
// Kernel:   a loop over tiles, and behind it a buffer that is read before the wait for one size only.
// Target:   sm_80
// Expected verdict: not-verified
// Expected finding: missing-wait
// Line:     32
// Sizes:    wrong for n = 1000
// Why:      the read stands behind a loop of n turns, of which no more are run than it takes to see them repeat.
// wrong-size: n=1000
// right-size: n=8
#include <cstdint>
#include <cuda_runtime.h>
__device__ __forceinline__ uint32_t smem_addr(const void* p) { return static_cast<uint32_t>(__cvta_generic_to_shared(p)); }
__device__ __forceinline__ void cp_async16(void* dst, const void* src) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(smem_addr(dst)), "l"(src) : "memory");
}
__device__ __forceinline__ void cp_async_commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int N> __device__ __forceinline__ void cp_async_wait() { asm volatile("cp.async.wait_group %0;" ::"n"(N) : "memory"); }
// handoff: launch block=32
__global__ void k(const float4* in, float* out, int n) {
    __shared__ alignas(16) float4 buf[2][32];
    const int t = threadIdx.x;
    float sum = 0;
    #pragma unroll 1
    for (int k = 0; k < n; k += 1) {
        cp_async16(&buf[0][t], in + k * 128 + t);
        cp_async_commit();
        cp_async_wait<0>();
        sum += buf[0][t].x;
    }
    cp_async16(&buf[1][t], in + t); cp_async_commit();
    if (n == 1000) sum += buf[1][t].x;  // BUG: missing-wait
    cp_async_wait<0>();
    out[t] = sum;
}
