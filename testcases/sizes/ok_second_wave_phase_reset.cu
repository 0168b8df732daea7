// SPDX-License-Identifier: Apache-2.0
// Kernel:   persistent blocks; a tile is three chunks of 128 floats through two slots, loaded by thread 0.
// Target:   sm_90
// Expected verdict: silent
// Sizes:    right for all
// Why:      the chunks are counted through.
// right-size: total=5 grid=4
// right-size: total=4 grid=4
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

constexpr int kStages = 2, kChunks = 3;

// handoff: launch block=128
__global__ void persistent(const float* in, float* out, int total) {
    __shared__ alignas(128) float ring[kStages][128];
    __shared__ alignas(8) uint64_t full[kStages];
    const int t = threadIdx.x;
    if (t < kStages) {
        mbar_init(&full[t], 1);
        mbar_init_fence();
    }
    __syncthreads();

    unsigned n = 0;  // chunks of all tiles so far
    for (long long tile = blockIdx.x; tile < total; tile += gridDim.x) {
        const float* src = in + tile * kChunks * 128;
        float sum = 0.f;
        for (int c = 0; c < kChunks; ++c, ++n) {
            const unsigned s = n % kStages;
            if (t == 0) {
                mbar_arrive_expect_tx(&full[s], sizeof(ring[0]));
                bulk_load(ring[s], src + c * 128, sizeof(ring[0]), &full[s]);
            }
            mbar_wait(&full[s], (n / kStages) & 1);
            sum += ring[s][127 - t];
            fence_async_proxy();
            __syncthreads();
        }
        out[tile * 128 + t] = sum;
    }
}
