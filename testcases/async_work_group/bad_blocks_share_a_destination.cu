// Kernel:   the blocks of a cluster send their rows to the first one, all to the same place.
// Launch:   grid 128, block 64, cluster 4, static shared memory only
// Target:   sm_90
// Expected finding: overlapping-copies
// Line:     67
// Why:      the rows of three blocks arrive at the same time in the same bytes.
#include <cstdint>
#include <cuda_runtime.h>

__device__ __forceinline__ uint32_t smem_addr(const void* p) {
    return static_cast<uint32_t>(__cvta_generic_to_shared(p));
}
__device__ __forceinline__ void mbar_init(uint64_t* bar, uint32_t count) {
    asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(smem_addr(bar)), "r"(count) : "memory");
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
__device__ __forceinline__ void mbar_init_fence() {
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}
__device__ __forceinline__ void mbar_arrive_expect_tx(uint64_t* bar, uint32_t bytes) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(smem_addr(bar)), "r"(bytes)
                 : "memory");
}
__device__ __forceinline__ void mbar_wait_cluster(uint64_t* bar, uint32_t parity) {
    uint32_t done = 0;
    while (!done) {
        asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%1], %2;\n"
                     "  selp.u32 %0, 1, 0, p; }"
                     : "=r"(done) : "r"(smem_addr(bar)), "r"(parity) : "memory");
    }
}
__device__ __forceinline__ void bulk_copy_to_peer(uint32_t dst, const void* src, uint32_t bytes, uint32_t bar) {
    asm volatile("cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
                 ::"r"(dst), "r"(smem_addr(src)), "r"(bytes), "r"(bar) : "memory");
}
__device__ __forceinline__ void fence_async_proxy() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }

__global__ void __cluster_dims__(4, 1, 1) row(const float* p, float* q) {
    __shared__ alignas(128) float mine[64], inbox[64];
    __shared__ alignas(8) uint64_t event;
    const int t = threadIdx.x;
    const uint32_t rank = cluster_rank();
    if (t == 0) {
        mbar_init(&event, 1);
        mbar_init_fence();
        if (rank == 0) mbar_arrive_expect_tx(&event, 3 * sizeof(inbox));
    }
    mine[t] = p[64 * blockIdx.x + t];
    fence_async_proxy();
    cluster_sync();

    if (t == 0 && rank != 0) {
        const uint32_t to = map_to_rank(inbox, 0);
        bulk_copy_to_peer(to, mine, sizeof(mine), map_to_rank(&event, 0));  // BUG: overlapping-copies
    }
    if (rank == 0) {
        mbar_wait_cluster(&event, 0);
        q[64 * blockIdx.x + t] = inbox[t];
    }
    cluster_sync();
}

int main() {
    float *p, *q;
    cudaMalloc(&p, 8192 * sizeof(float));
    cudaMemset(p, 0, 8192 * sizeof(float));
    cudaMalloc(&q, 8192 * sizeof(float));
    cudaMemset(q, 0, 8192 * sizeof(float));
    row<<<128, 64>>>(p, q);
    return cudaDeviceSynchronize() != cudaSuccess;
}
