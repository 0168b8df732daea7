// SPDX-License-Identifier: Apache-2.0
// Kernel:   n vectors of 16 bytes in tiles of 64; one thread loads, all wait.
// Target:   sm_90
// Expected verdict: silent
// Sizes:    right for all
// Why:      the bytes that are copied are announced.
// right-size: n=1
// right-size: n=512
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
__global__ void vectors(const float4* in, float* out, unsigned n) {
    __shared__ alignas(128) float4 buf[64];
    __shared__ alignas(8) uint64_t full;
    const unsigned t = threadIdx.x;
    if (t == 0) {
        mbar_init(&full, 1);
        mbar_init_fence();
    }
    __syncthreads();

    const float4* src = in + static_cast<size_t>(blockIdx.x) * n;
    float sum = 0.f;
    uint32_t parity = 0;
    for (unsigned left = n; left > 0; parity ^= 1) {
        const unsigned len = left < 64 ? left : 64;
        if (t == 0) {
            mbar_arrive_expect_tx(&full, len * 16);
            bulk_load(buf, src, len * 16, &full);
        }
        mbar_wait(&full, parity);
        if (t < len) sum += buf[len - 1 - t].x;
        fence_async_proxy();
        __syncthreads();
        src += len;
        left -= len;
    }
    out[blockIdx.x * 128 + t] = sum;
}
