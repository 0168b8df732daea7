// Kernel:   a four-stage ring over 64 tiles in a cluster of two blocks: a producer lane of each block multicasts
//           its half of every tile into both blocks, and two consumer warpgroups a block use it.
// Launch:   grid 8, block 384, cluster 2, static shared memory only
// Target:   sm_90
// Expected finding: missing-proxy-fence
// Also acceptable: premature-overwrite
// Line:     108
// Why:      the tile is read by ordinary loads and refilled through the async proxy; no proxy fence lies between
//           the reads and the refill, neither here nor at the producers.
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
__device__ __forceinline__ bool elect_one() {
    uint32_t elected;
    asm volatile("{ .reg .pred p; elect.sync _|p, 0xffffffff; selp.u32 %0, 1, 0, p; }" : "=r"(elected)::"memory");
    return elected != 0;
}
__device__ __forceinline__ void mbar_init(uint64_t* bar, uint32_t count) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(smem_addr(bar)), "r"(count) : "memory");
}
__device__ __forceinline__ void mbar_init_fence() {
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}
__device__ __forceinline__ void mbar_arrive_remote(uint64_t* bar, uint32_t rank) {
    asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(map_to_rank(bar, rank)) : "memory");
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

constexpr int kStages = 4, kTiles = 64, kTile = 1024, kHalf = kTile / 2;  // floats
constexpr int kConsumerWarps = 8;

__global__ void __cluster_dims__(2, 1, 1) __launch_bounds__(384, 1) multicast_ring(const float* in, float* out) {
    __shared__ alignas(128) float ring[kStages][kTile];
    __shared__ alignas(8) uint64_t full[kStages], empty[kStages];
    const uint32_t rank = cluster_rank();
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const float* src = in + (blockIdx.x / 2) * kTiles * kTile;

    if (threadIdx.x == 0) {
        for (int s = 0; s < kStages; ++s) {
            mbar_init(&full[s], 1);
            mbar_init(&empty[s], 2 * kConsumerWarps);  // the consumers of both blocks
        }
        mbar_init_fence();
    }
    cluster_sync();

    if (warp < 4) {  // the producer warpgroup; one lane of its first warp works
        if (warp == 0 && elect_one()) {
            for (int k = 0; k < kTiles; ++k) {
                const int s = k % kStages;
                mbar_wait_cluster(&empty[s], ((k / kStages) & 1) ^ 1);
                mbar_arrive_expect_tx(&full[s], sizeof(ring[0]));
                // each block loads one half of the tile into both blocks
                const int first = rank * kHalf;
                bulk_load_multicast(&ring[s][first], src + k * kTile + first, kHalf * sizeof(float), &full[s], 3);
            }
        }
    } else {
        const int t = threadIdx.x - 128;
        float sum = 0.f;
        for (int k = 0; k < kTiles; ++k) {
            const int s = k % kStages;
            mbar_wait(&full[s], (k / kStages) & 1);
            for (int i = t; i < kTile; i += 256) sum += ring[s][kTile - 1 - i];
            __syncwarp();
            if (lane < 2) mbar_arrive_remote(&empty[s], lane);  // BUG: missing-proxy-fence
        }
        out[blockIdx.x * 256 + t] = sum;
    }
    cluster_sync();  // the peer's copies and arrivals come here until its end
}

int main() {
    float *in, *out;
    cudaMalloc(&in, 4 * kTiles * kTile * sizeof(float));
    cudaMalloc(&out, 8 * 256 * sizeof(float));
    cudaMemset(in, 0, 4 * kTiles * kTile * sizeof(float));
    multicast_ring<<<8, 384>>>(in, out);
    return cudaDeviceSynchronize() != cudaSuccess;
}
