// SPDX-License-Identifier: Apache-2.0
// Kernel:   a double buffer that stops to wait once a budget is used up.
// Target:   sm_80
// Expected verdict: not-verified
// Expected finding: barrier-only-handoff
// Line:     39
// Sizes:    wrong for tiles >= 502
// Why:      elapsed grows by 3 a turn and is above 1500 from turn 501 on.
// wrong-size: tiles=502
// right-size: tiles=8
#include <cstdint>
#include <cuda_runtime.h>

__device__ __forceinline__ uint32_t smem_addr(const void* p) {
    return static_cast<uint32_t>(__cvta_generic_to_shared(p));
}
__device__ __forceinline__ void cp_async16(void* dst, const void* src) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(smem_addr(dst)), "l"(src) : "memory");
}
__device__ __forceinline__ void cp_async_commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int N>
__device__ __forceinline__ void cp_async_wait() {
    asm volatile("cp.async.wait_group %0;" ::"n"(N) : "memory");
}

// handoff: launch block=128
__global__ void impatient(const float4* in, float* out, int tiles) {
    __shared__ alignas(16) float4 buf[128];
    const int t = threadIdx.x;
    const float4* src = in + static_cast<size_t>(blockIdx.x) * tiles * 128 + t;
    float sum = 0.f;
    unsigned elapsed = 0;
    for (int k = 0; k < tiles; ++k) {
        cp_async16(&buf[t], src + static_cast<size_t>(k) * 128);
        cp_async_commit();
        if (elapsed <= 1500) cp_async_wait<0>();
        if (elapsed <= 2000000) elapsed += 3;
        __syncthreads();
        sum += buf[127 - t].x;  // BUG: barrier-only-handoff
        __syncthreads();
    }
    out[blockIdx.x * 128 + t] = sum;
}
