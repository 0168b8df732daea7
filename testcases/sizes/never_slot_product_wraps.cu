// SPDX-License-Identifier: Apache-2.0
// Kernel:   a seven-stage cp.async ring with six tiles in flight; slots come in the order of (5 k + 3) % 7.
// Target:   sm_80
// Expected verdict: not-verified
// Expected finding: premature-overwrite
// Line:     44
// Sizes:    wrong for tiles >= 858993460 (too long to run)
// Why:      5 k + 3 wraps at k = 858993459, and 2^32 is no multiple of 7: that tile gets slot 2 like tile
//           858993454, which is in flight then.
// wrong-size: tiles=858993460
// right-size: tiles=20
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
__global__ void product_ring(const float4* in, float* out, unsigned tiles) {
    __shared__ alignas(16) float4 ring[7][128];
    const unsigned t = threadIdx.x;
    const float4* src = in + static_cast<size_t>(blockIdx.x) * tiles * 128 + t;
    auto slot = [](unsigned k) { return (5 * k + 3) % 7; };

    for (unsigned s = 0; s < 6; ++s) {
        if (s < tiles) cp_async16(&ring[slot(s)][t], src + s * 128);
        cp_async_commit();
    }
    float sum = 0.f;
    for (unsigned k = 0; k < tiles; ++k) {
        cp_async_wait<5>();
        __syncthreads();
        sum += ring[slot(k)][127 - t].x;
        if (tiles - k > 6)
            cp_async16(&ring[slot(k + 6)][t], src + static_cast<size_t>(k + 6) * 128);  // BUG: premature-overwrite
        cp_async_commit();
    }
    out[blockIdx.x * 128 + t] = sum;
}
