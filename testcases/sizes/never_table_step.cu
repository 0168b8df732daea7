// SPDX-License-Identifier: Apache-2.0
// Kernel:   a three-stage cp.async ring; a table of 64 entries, one of them wrong, says how far the slot goes
//           on; an entry counts for 32 turns.
// Target:   sm_80
// Expected verdict: not-verified
// Expected finding: premature-overwrite
// Line:     55
// Sizes:    wrong for tiles >= 1634
// Why:      entry 51 holds 0: from turn 51 * 32 on the slot stands still.
// wrong-size: tiles=1634
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

__constant__ unsigned char kSteps[64] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
                                         1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
                                         1, 1, 1, 1, 1, 1, 1, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};

// handoff: launch block=128
__global__ void table_ring(const float4* in, float* out, unsigned tiles) {
    __shared__ alignas(16) float4 ring[3][128];
    const unsigned t = threadIdx.x;
    const float4* src = in + static_cast<size_t>(blockIdx.x) * tiles * 128 + t;
    struct Cursor {
        unsigned k = 0, slot = 0;
        __device__ void next() {
            slot = (slot + kSteps[k / 32 % 64]) % 3;
            ++k;
        }
    };

    Cursor fill, use;
    for (unsigned s = 0; s < 2; ++s, fill.next()) {
        if (s < tiles) cp_async16(&ring[fill.slot][t], src + s * 128);
        cp_async_commit();
    }
    float sum = 0.f;
    for (unsigned k = 0; k < tiles; ++k, use.next(), fill.next()) {
        cp_async_wait<1>();
        __syncthreads();
        sum += ring[use.slot][127 - t].x;
        if (tiles - k > 2)
            cp_async16(&ring[fill.slot][t], src + static_cast<size_t>(k + 2) * 128);  // BUG: premature-overwrite
        cp_async_commit();
    }
    out[blockIdx.x * 128 + t] = sum;
}
