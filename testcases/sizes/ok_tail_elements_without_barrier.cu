// SPDX-License-Identifier: Apache-2.0
// Kernel:   n float4 in tiles of 128 through one buffer; what is left over is copied with a guard behind the
//           loop.
// Target:   sm_80
// Expected verdict: silent
// Sizes:    right for all
// Why:      the barrier of the loop is in the tail, too.
// right-size: n=1
// right-size: n=512
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
__global__ void reverse_sum(const float4* in, float* out, unsigned n) {
    __shared__ alignas(16) float4 buf[128];
    const unsigned t = threadIdx.x;
    const float4* src = in + static_cast<size_t>(blockIdx.x) * n + t;
    float sum = 0.f;
    unsigned left = n;
    for (; left >= 128; left -= 128, src += 128) {
        cp_async16(&buf[t], src);
        cp_async_commit();
        cp_async_wait<0>();
        __syncthreads();
        sum += buf[127 - t].x;
        __syncthreads();
    }
    if (left > 0) {
        if (t < left) cp_async16(&buf[t], src);
        cp_async_commit();
        cp_async_wait<0>();
        __syncthreads();
        if (127 - t < left) sum += buf[127 - t].x;
    }
    out[blockIdx.x * 128 + t] = sum;
}
