// SPDX-License-Identifier: Apache-2.0
// Kernel:   the two blocks of a cluster load tiles in turns and multicast each to both; a turn is the two tiles
//           of two slots of one buffer.
// Target:   sm_90
// Expected verdict: verified
// Sizes:    right for all
// Why:      the bytes of the tiles that exist are announced.
// right-size: tiles=1
// right-size: tiles=8
#include <cstdint>
#include <cuda_runtime.h>

__device__ __forceinline__ uint32_t smem_addr(const void* p) {
    return static_cast<uint32_t>(__cvta_generic_to_shared(p));
}
__device__ __forceinline__ uint32_t cluster_rank() {
    uint32_t rank;
    asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    return rank;
}
__device__ __forceinline__ uint32_t map_to_rank(const void* p, uint32_t rank) {
    uint32_t addr;
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(addr) : "r"(smem_addr(p)), "r"(rank));
    return addr;
}
__device__ __forceinline__ void cluster_sync() {
    asm volatile("barrier.cluster.arrive.release;" ::: "memory");
    asm volatile("barrier.cluster.wait.acquire;" ::: "memory");
}
__device__ __forceinline__ void mbar_arrive_remote(uint64_t* bar, uint32_t rank) {
    asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(map_to_rank(bar, rank)) : "memory");
}
__device__ __forceinline__ void fence_async_proxy_all() { asm volatile("fence.proxy.async;" ::: "memory"); }
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
__device__ __forceinline__ void mbar_wait_cluster(uint64_t* bar, uint32_t parity) {
    uint32_t done = 0;
    while (!done) {
        asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%1], %2;\n"
                     "  selp.u32 %0, 1, 0, p; }"
                     : "=r"(done) : "r"(smem_addr(bar)), "r"(parity) : "memory");
    }
}
__device__ __forceinline__ void bulk_load_multicast(void* dst, const void* src, uint32_t bytes, uint64_t* bar,
                                                    uint16_t mask) {
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster "
                 "[%0], [%1], %2, [%3], %4;"
                 ::"r"(smem_addr(dst)), "l"(src), "r"(bytes), "r"(smem_addr(bar)), "h"(mask) : "memory");
}

// handoff: launch block=128
__global__ void __cluster_dims__(2, 1, 1) pair_of_blocks(const float* in, float* out, int tiles) {
    __shared__ alignas(128) float buf[2][128];
    __shared__ alignas(8) uint64_t full, empty;
    const int t = threadIdx.x;
    const int rank = cluster_rank();
    if (t == 0) {
        mbar_init(&full, 1);
        mbar_init(&empty, 8);  // the warps of both blocks
        mbar_init_fence();
    }
    cluster_sync();

    const float* src = in + static_cast<size_t>(blockIdx.x / 2) * tiles * 128;
    const int turns = tiles / 2 + tiles % 2;
    float sum = 0.f;
    for (int k = 0; k < turns; ++k) {
        const bool has_second = k < tiles / 2;
        if (t == 0) {
            mbar_wait_cluster(&empty, (k & 1) ^ 1);
            fence_async_proxy_all();
            mbar_arrive_expect_tx(&full, has_second ? sizeof(buf) : sizeof(buf[0]));
            if (rank == 0 || has_second)
                bulk_load_multicast(buf[rank], src + k * 256ll + rank * 128, sizeof(buf[0]), &full, 3);
        }
        mbar_wait(&full, k & 1);
        sum += buf[0][127 - t];
        if (has_second) sum += buf[1][127 - t];
        fence_async_proxy_all();
        __syncwarp();
        if (t % 32 < 2) mbar_arrive_remote(&empty, t % 32);
    }
    out[blockIdx.x * 128 + t] = sum;
    cluster_sync();  // the copies and arrivals of the peer come here until its end
}
