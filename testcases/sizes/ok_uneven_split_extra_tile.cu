// SPDX-License-Identifier: Apache-2.0
// Kernel:   M tiles are dealt out to the blocks, and the first M % grid blocks get one more, which is copied
//           last.
// Target:   sm_80
// Expected verdict: silent
// Sizes:    right for all
// Why:      it is committed like the others.
// right-size: M=1 grid=4
// right-size: M=512 grid=4
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
__global__ void dealt(const float4* in, float* out, unsigned M) {
    __shared__ alignas(16) float4 buf[2][128];
    const unsigned t = threadIdx.x;
    const unsigned even = M / gridDim.x, extra = M % gridDim.x;
    float sum = 0.f;
    for (unsigned k = 0; k < even; ++k) {
        cp_async16(&buf[0][t], in + (static_cast<size_t>(k) * gridDim.x + blockIdx.x) * 128 + t);
        cp_async_commit();
        cp_async_wait<0>();
        __syncthreads();
        sum += buf[0][127 - t].x;
        __syncthreads();
    }
    if (blockIdx.x < extra) {
        cp_async16(&buf[1][t], in + (static_cast<size_t>(M) - extra + blockIdx.x) * 128 + t);
        cp_async_commit();
        cp_async_wait<0>();
        __syncthreads();
        sum += buf[1][127 - t].x;
    }
    out[blockIdx.x * 128 + t] = sum;
}
