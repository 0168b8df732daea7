// SPDX-License-Identifier: Apache-2.0
// Kernel:   a three-stage cp.async ring; the slot goes on whenever a shift register of 10 bits is not at its
//           start.
// Target:   sm_80
// Expected verdict: not-verified
// Expected finding: premature-overwrite
// Line:     52
// Sizes:    wrong for tiles >= 1024
// Why:      the register is at its start again after 1023 turns; tile 1023 is then copied into the slot of tile
//           1022, which is still in flight.
// wrong-size: tiles=1024
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
__global__ void shift_register(const float4* in, float* out, int tiles) {
    __shared__ alignas(16) float4 ring[3][128];
    const int t = threadIdx.x;
    const float4* src = in + static_cast<size_t>(blockIdx.x) * tiles * 128 + t;
    struct Cursor {
        unsigned bits = 1, slot = 0;
        __device__ void next() {
            bits = bits & 1 ? bits >> 1 ^ 0x240 : bits >> 1;  // x^10 + x^7 + 1: 1023 states
            if (bits != 1) slot = slot == 2 ? 0 : slot + 1;
        }
    };

    Cursor fill, use;
    for (int s = 0; s < 2; ++s, fill.next()) {
        if (s < tiles) cp_async16(&ring[fill.slot][t], src + s * 128);
        cp_async_commit();
    }
    float sum = 0.f;
    for (int k = 0; k < tiles; ++k, use.next(), fill.next()) {
        cp_async_wait<1>();
        __syncthreads();
        sum += ring[use.slot][127 - t].x;
        if (tiles - k > 2)
            cp_async16(&ring[fill.slot][t], src + static_cast<size_t>(k + 2) * 128);  // BUG: premature-overwrite
        cp_async_commit();
    }
    out[blockIdx.x * 128 + t] = sum;
}
