// SPDX-License-Identifier: Apache-2.0
// Kernel:   a four-stage cp.async ring with three tiles in flight; a 16-bit counter names the slot.
// Target:   sm_80
// Expected verdict: verified
// Sizes:    right for all
// Why:      65536 is a multiple of 4: the slots go on as if the counter did not wrap.
// right-size: tiles=8
// right-size: tiles=600
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
__global__ void short_counter(const float4* in, float* out, int tiles) {
    __shared__ alignas(16) float4 ring[4][128];
    const int t = threadIdx.x;
    const float4* src = in + static_cast<size_t>(blockIdx.x) * tiles * 128 + t;
    uint16_t use = 0;
    auto slot = [](uint16_t counter) { return counter % 4; };


    for (int s = 0; s < 3; ++s) {
        if (s < tiles) cp_async16(&ring[s][t], src + s * 128);
        cp_async_commit();
    }
    float sum = 0.f;
    for (int k = 0; k < tiles; ++k, ++use) {
        cp_async_wait<2>();
        __syncthreads();
        sum += ring[slot(use)][127 - t].x;
        if (tiles - k > 3) cp_async16(&ring[slot(use + 3)][t], src + static_cast<size_t>(k + 3) * 128);
        cp_async_commit();
    }
    out[blockIdx.x * 128 + t] = sum;
}
