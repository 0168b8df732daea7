// SPDX-License-Identifier: Apache-2.0
// Kernel:   64 loaders feed 64 workers through two slots; the workers use a tile before they look whether there
//           is one more.
// Target:   sm_80
// Expected verdict: violation
// Expected finding: hang
// Line:     61
// Sizes:    wrong for n < 64
// Why:      without a tile the loaders do nothing, and the workers wait for tile 0 for ever.
// wrong-size: n=0
// right-size: n=512
#include <cstdint>
#include <cuda_runtime.h>

__device__ __forceinline__ uint32_t smem_addr(const void* p) {
    return static_cast<uint32_t>(__cvta_generic_to_shared(p));
}
__device__ __forceinline__ void cp_async16(void* dst, const void* src) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(smem_addr(dst)), "l"(src) : "memory");
}
__device__ __forceinline__ void mbar_init(uint64_t* bar, uint32_t count) {
    asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(smem_addr(bar)), "r"(count) : "memory");
}
__device__ __forceinline__ void mbar_arrive(uint64_t* bar) {
    [[maybe_unused]] uint64_t state;
    asm volatile("mbarrier.arrive.shared.b64 %0, [%1];" : "=l"(state) : "r"(smem_addr(bar)) : "memory");
}
__device__ __forceinline__ void arrive_when_copied(uint64_t* bar) {
    asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" ::"r"(smem_addr(bar)) : "memory");
}
__device__ __forceinline__ void mbar_wait(uint64_t* bar, uint32_t parity) {
    uint32_t done = 0;
    while (!done) {
        asm volatile("{ .reg .pred p; mbarrier.test_wait.parity.shared.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
                     : "=r"(done) : "r"(smem_addr(bar)), "r"(parity) : "memory");
    }
}

// handoff: launch block=128
__global__ void stream_max(const float4* in, float* out, unsigned n) {
    __shared__ alignas(16) float4 ring[2][64];
    __shared__ alignas(8) uint64_t full[2], empty[2];
    const unsigned t = threadIdx.x, tiles = n / 64;
    if (t < 2) {
        mbar_init(&full[t], 64);
        mbar_init(&empty[t], 64);
    }
    __syncthreads();

    if (t < 64) {
        const float4* src = in + static_cast<size_t>(blockIdx.x) * n + t;
        for (unsigned k = 0; k < tiles; ++k) {
            mbar_wait(&empty[k & 1], ((k >> 1) & 1) ^ 1);
            cp_async16(&ring[k & 1][t], src + static_cast<size_t>(k) * 64);
            arrive_when_copied(&full[k & 1]);
        }
    } else {
        float best = -1e30f;
        unsigned k = 0;
        do {
            mbar_wait(&full[k & 1], (k >> 1) & 1);  // BUG: hang
            best = fmaxf(best, ring[k & 1][127 - t].x);
            mbar_arrive(&empty[k & 1]);
            ++k;
        } while (k < tiles);
        out[blockIdx.x * 64 + t - 64] = best;
    }
}
