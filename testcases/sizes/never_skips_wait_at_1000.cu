// SPDX-License-Identifier: Apache-2.0
// Kernel:   a three-stage cp.async ring that does not wait in turn 1000.
// Target:   sm_80
// Expected verdict: not-verified
// Expected finding: insufficient-wait
// Line:     40
// Sizes:    wrong for tiles >= 1001
// Why:      nothing waits for the group of tile 1000 before it is read.
// wrong-size: tiles=1001
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
__global__ void special_turn(const float4* in, float* out, int tiles) {
    __shared__ alignas(16) float4 ring[3][128];
    const int t = threadIdx.x;
    const float4* src = in + static_cast<size_t>(blockIdx.x) * tiles * 128 + t;

    for (int s = 0; s < 2; ++s) {
        if (s < tiles) cp_async16(&ring[s][t], src + s * 128);
        cp_async_commit();
    }
    float sum = 0.f;
    for (int k = 0; k < tiles; ++k) {
        if (k != 1000) cp_async_wait<1>();
        __syncthreads();
        sum += ring[k % 3][127 - t].x;  // BUG: insufficient-wait
        if (tiles - k > 2) cp_async16(&ring[(k + 2) % 3][t], src + static_cast<size_t>(k + 2) * 128);
        cp_async_commit();
    }
    out[blockIdx.x * 128 + t] = sum;
}
