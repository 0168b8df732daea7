// SPDX-License-Identifier: Apache-2.0
// Kernel:   one buffer and one mbarrier; a phase also announces and takes back up to 7 times 4096 bytes.
// Target:   sm_90
// Expected verdict: verified
// Sizes:    right for all
// Why:      what is announced beside the copy comes back to 0 every eight turns and is taken back before the
//           phase ends.
// right-size: tiles=8
// right-size: tiles=300
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
__device__ __forceinline__ void mbar_expect_tx(uint64_t* bar, uint32_t bytes) {
    asm volatile("mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%0], %1;" ::"r"(smem_addr(bar)), "r"(bytes) : "memory");
}
__device__ __forceinline__ void mbar_complete_tx(uint64_t* bar, uint32_t bytes) {
    asm volatile("mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%0], %1;" ::"r"(smem_addr(bar)), "r"(bytes)
                 : "memory");
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

// handoff: launch block=128
__global__ void sawtooth(const float* in, float* out, int tiles) {
    __shared__ alignas(128) float buf[128];
    __shared__ alignas(8) uint64_t full;
    const int t = threadIdx.x;
    if (t == 0) {
        mbar_init(&full, 1);
        mbar_init_fence();
    }
    __syncthreads();

    const float* src = in + static_cast<size_t>(blockIdx.x) * tiles * 128;
    float sum = 0.f;
    uint32_t more = 0;
    for (int k = 0; k < tiles; ++k, src += 128, more = (more + 4096) & 0x7fff) {
        if (t == 0) {
            mbar_expect_tx(&full, more);
            mbar_complete_tx(&full, more);
            mbar_arrive_expect_tx(&full, sizeof(buf));
            bulk_load(buf, src, sizeof(buf), &full);
        }
        mbar_wait(&full, k & 1);
        sum += buf[127 - t];
        fence_async_proxy();
        __syncthreads();
    }
    out[blockIdx.x * 128 + t] = sum;
}
