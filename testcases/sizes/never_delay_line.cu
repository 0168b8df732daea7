// SPDX-License-Identifier: Apache-2.0
// Kernel:   one cp.async buffer; a part of the counter decides about the wait six turns later.
// Target:   sm_80
// Expected verdict: not-verified
// Expected finding: missing-wait
// Line:     30
// Sizes:    wrong for tiles >= 903
// Why:      from turn 902 on the register at the end of the line holds 7.
// wrong-size: tiles=1005
// right-size: tiles=8
#include <cstdint>
#include <cuda_runtime.h>
__device__ __forceinline__ uint32_t smem_addr(const void* p) { return static_cast<uint32_t>(__cvta_generic_to_shared(p)); }
__device__ __forceinline__ void cp_async16(void* dst, const void* src) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(smem_addr(dst)), "l"(src) : "memory");
}
__device__ __forceinline__ void cp_async_commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int N> __device__ __forceinline__ void cp_async_wait() { asm volatile("cp.async.wait_group %0;" ::"n"(N) : "memory"); }
// handoff: launch block=32
__global__ void k(const float4* in, float* out, int tiles) {
    __shared__ alignas(16) float4 buf[32];
    const int t = threadIdx.x;
    float sum = 0;
    int a = 0, b = 0, c = 0, d = 0, e = 0, f = 0;
    #pragma unroll 1
    for (int k = 0; k < tiles; ++k) {
        cp_async16(&buf[t], in + k * 128 + t);
        cp_async_commit();
        if (f < 7) cp_async_wait<0>();
        sum += buf[t].x;  // BUG: missing-wait
        cp_async_wait<0>();
        f = e; e = d; d = c; c = b; b = a;
        a = k / 128;
        asm volatile("" : "+r"(a));
    }
    out[t] = sum;
}
