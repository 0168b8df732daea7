// SPDX-License-Identifier: Apache-2.0
// Kernel:   a four-stage cp.async ring with three tiles in flight; the slot goes on by one, and after 300 turns
//           by five.
// Target:   sm_80
// Expected verdict: verified
// Sizes:    right for all
// Why:      5 is 1 modulo 4: the slots go on as before.
// right-size: tiles=8
// right-size: tiles=400
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
__global__ void changing_step(const float4* in, float* out, int tiles) {
    __shared__ alignas(16) float4 ring[4][128];
    const int t = threadIdx.x;
    const float4* src = in + static_cast<size_t>(blockIdx.x) * tiles * 128 + t;
    struct Cursor {
        int slot = 0, left = 300, step = 1;
        __device__ void next() {
            slot = (slot + step) & 3;
            if (left > 0 && --left == 0) step = 5;
        }
    };

    Cursor fill, use;

    for (int s = 0; s < 3; ++s, fill.next()) {
        if (s < tiles) cp_async16(&ring[fill.slot][t], src + s * 128);
        cp_async_commit();
    }
    float sum = 0.f;
    for (int k = 0; k < tiles; ++k, use.next(), fill.next()) {
        cp_async_wait<2>();
        __syncthreads();
        sum += ring[use.slot][127 - t].x;
        if (tiles - k > 3) cp_async16(&ring[fill.slot][t], src + static_cast<size_t>(k + 3) * 128);
        cp_async_commit();
    }
    out[blockIdx.x * 128 + t] = sum;
}
