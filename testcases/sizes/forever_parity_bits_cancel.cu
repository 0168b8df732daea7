// SPDX-License-Identifier: Apache-2.0
// Kernel:   a producer thread fills a ring of two slots with bulk copies for 96 consumers; the consumers mix
//           bit 10 of the tile into the parity twice.
// Target:   sm_90
// Expected verdict: silent
// Sizes:    right for all
// Why:      the two cancel.
// right-size: tiles=8
// right-size: tiles=1030
#include <cstdint>
#include <cuda_runtime.h>

__device__ __forceinline__ uint32_t smem_addr(const void* p) {
    return static_cast<uint32_t>(__cvta_generic_to_shared(p));
}
__device__ __forceinline__ void mbar_init(uint64_t* bar, uint32_t count) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(smem_addr(bar)), "r"(count) : "memory");
}
__device__ __forceinline__ void mbar_init_fence() {
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}
__device__ __forceinline__ void mbar_arrive(uint64_t* bar) {
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(smem_addr(bar)) : "memory");
}
__device__ __forceinline__ void mbar_arrive_expect_tx(uint64_t* bar, uint32_t bytes) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(smem_addr(bar)), "r"(bytes)
                 : "memory");
}
__device__ __forceinline__ void mbar_wait(uint64_t* bar, uint32_t parity) {
    uint32_t done = 0;
    while (!done) {
        asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
                     : "=r"(done) : "r"(smem_addr(bar)), "r"(parity) : "memory");
    }
}
__device__ __forceinline__ void bulk_load(void* dst, const void* src, uint32_t bytes, uint64_t* bar) {
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
                 ::"r"(smem_addr(dst)), "l"(src), "r"(bytes), "r"(smem_addr(bar)) : "memory");
}
__device__ __forceinline__ void fence_async_proxy() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }

constexpr int kStages = 2;

// handoff: launch block=128
__global__ void bits_cancel(const float* in, float* out, unsigned tiles) {
    __shared__ alignas(128) float ring[kStages][96];
    __shared__ alignas(8) uint64_t full[kStages], empty[kStages];
    const int t = threadIdx.x;
    if (t == 0) {
        for (int s = 0; s < kStages; ++s) {
            mbar_init(&full[s], 1);
            mbar_init(&empty[s], 96);
        }
        mbar_init_fence();
    }
    __syncthreads();

    if (t == 96) {
        const float* src = in + static_cast<size_t>(blockIdx.x) * tiles * 96;
        for (unsigned k = 0; k < tiles; ++k, src += 96) {
            const int s = k & 1;
            mbar_wait(&empty[s], ((k >> 1) & 1) ^ 1);
            mbar_arrive_expect_tx(&full[s], sizeof(ring[0]));
            bulk_load(ring[s], src, sizeof(ring[0]), &full[s]);
        }
    } else if (t < 96) {
        float sum = 0.f;
        unsigned high = 0;
        for (unsigned k = 0; k < tiles; ++k, high = k / 1024 & 1) {
            const int s = k & 1;
            mbar_wait(&full[s], ((k >> 1) ^ high ^ ((k & 1024) / 1024)) & 1);
            sum += ring[s][95 - t];
            fence_async_proxy();
            mbar_arrive(&empty[s]);
        }
        out[blockIdx.x * 96 + t] = sum;
    }
}
