// SPDX-License-Identifier: Apache-2.0
// Kernel:   a four-stage cp.async ring that leaves out the commit in one turn of 1024.
// Target:   sm_80
// Expected verdict: not-verified
// Expected finding: insufficient-wait
// Line:     41
// Sizes:    wrong for tiles >= 1025
// Why:      turn 1023 commits no group, so the constant wait_group 2 of the next turn leaves the group of tile
//           1024 pending; from then on every turn waits for one group too few.
// wrong-size: tiles=1025
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
__global__ void rare_commit(const float4* in, float* out, unsigned tiles) {
    __shared__ alignas(16) float4 ring[4][128];
    const unsigned t = threadIdx.x;
    const float4* src = in + static_cast<size_t>(blockIdx.x) * tiles * 128 + t;

    for (unsigned s = 0; s < 3; ++s) {
        if (s < tiles) cp_async16(&ring[s][t], src + s * 128);
        cp_async_commit();
    }
    float sum = 0.f;
    for (unsigned k = 0; k < tiles; ++k) {
        cp_async_wait<2>();
        __syncthreads();
        sum += ring[k & 3][127 - t].x;  // BUG: insufficient-wait
        if (tiles - k > 3) cp_async16(&ring[(k + 3) & 3][t], src + static_cast<size_t>(k + 3) * 128);
        if ((k & 1023) != 1023) cp_async_commit();
    }
    out[blockIdx.x * 128 + t] = sum;
}
