// Kernel:   each block of a pair loads a row into the other block.
// Launch:   grid 8, block 64, cluster 2, static shared memory only
// Target:   sm_90
// Expected finding: none
// Line:     -
// Why:      the shared::cluster form may load from global memory into any block of the cluster, with the barrier
//           beside the destination.
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
__device__ __forceinline__ void bulk_load_cluster(uint32_t dst, const void* src, uint32_t bytes, uint32_t bar) {
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
                 ::"r"(dst), "l"(src), "r"(bytes), "r"(bar) : "memory");
}

__global__ void __cluster_dims__(2, 1, 1) load_for_peer(const float* in, float* out) {
    __shared__ alignas(128) float row[64];
    __shared__ alignas(8) uint64_t bar;
    const int t = threadIdx.x;
    if (t == 0) {
        mbar_init(&bar, 1);
        mbar_init_fence();
        mbar_arrive_expect_tx(&bar, sizeof(row));
    }
    cluster_sync();
    const uint32_t peer = cluster_rank() ^ 1;
    if (t == 0) {
        const float* src = in + (blockIdx.x / 2 * 2 + peer) * 64;
        bulk_load_cluster(map_to_rank(row, peer), src, sizeof(row), map_to_rank(&bar, peer));
    }
    mbar_wait(&bar, 0);
    out[blockIdx.x * 64 + t] = row[63 - t];
    cluster_sync();
}

int main() {
    float *in, *out;
    cudaMalloc(&in, 8 * 64 * sizeof(float));
    cudaMalloc(&out, 8 * 64 * sizeof(float));
    cudaMemset(in, 0, 8 * 64 * sizeof(float));
    load_for_peer<<<8, 64>>>(in, out);
    return cudaDeviceSynchronize() != cudaSuccess;
}
