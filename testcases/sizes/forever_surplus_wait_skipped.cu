// SPDX-License-Identifier: Apache-2.0
// Kernel:   a three-stage cp.async ring that waits twice in every turn but one of 1024.
// Target:   sm_80
// Expected verdict: silent
// Sizes:    right for all
// Why:      the wait that is left out in turn 1023 is the second one, which waits for nothing new.
// right-size: tiles=8
// right-size: tiles=1100
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
__global__ void two_waits(const float4* in, float* out, unsigned tiles) {
    __shared__ alignas(16) float4 ring[3][128];
    const unsigned t = threadIdx.x;
    const float4* src = in + static_cast<size_t>(blockIdx.x) * tiles * 128 + t;

    for (unsigned s = 0; s < 2; ++s) {
        if (s < tiles) cp_async16(&ring[s][t], src + s * 128);
        cp_async_commit();
    }
    float sum = 0.f;
    for (unsigned k = 0; k < tiles; ++k) {
        cp_async_wait<1>();
        if ((k & 1023) != 1023) cp_async_wait<1>();
        __syncthreads();
        sum += ring[k % 3][127 - t].x;
        if (tiles - k > 2) cp_async16(&ring[(k + 2) % 3][t], src + static_cast<size_t>(k + 2) * 128);
        cp_async_commit();
    }
    out[blockIdx.x * 128 + t] = sum;
}
