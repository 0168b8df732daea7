// Kernel:   each block of a pair sends the other one a row of 256 bytes, counted on the mbarrier of the receiver.
// Launch:   grid 8, block 64, cluster 2, static shared memory only
// Target:   sm_90
// Expected finding: illegal-barrier-op
// Also acceptable: uninitialized-barrier, wrong-space
// Line:     65
// Why:      mbarrier.init works on a barrier of the own block only; here one block initialises that of its peer,
//           too.
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

__device__ __forceinline__ void mbar_init_at(uint32_t bar, uint32_t count) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(bar), "r"(count) : "memory");
}

__global__ void __cluster_dims__(2, 1, 1) send_row(const float* in, float* out) {
    __shared__ alignas(128) float mine[64], theirs[64];
    __shared__ alignas(8) uint64_t received;
    const int t = threadIdx.x;
    const uint32_t rank = cluster_rank();
    cluster_sync();  // both blocks have started
    if (rank == 0 && t == 0) {
        mbar_init(&received, 1);
        mbar_init_at(map_to_rank(&received, 1), 1);  // BUG: illegal-barrier-op
        mbar_init_fence();
    }
    mine[t] = in[blockIdx.x * 64 + t];
    fence_async_proxy();
    cluster_sync();
    if (t == 0) mbar_arrive_expect_tx(&received, sizeof(theirs));
    if (t == 0) {
        const uint32_t peer = rank ^ 1;
        bulk_copy_to_peer(map_to_rank(theirs, peer), mine, sizeof(mine), map_to_rank(&received, peer));
    }
    __syncthreads();
    mbar_wait_cluster(&received, 0);
    out[blockIdx.x * 64 + t] = theirs[63 - t];
    cluster_sync();
}

int main() {
    float *in, *out;
    cudaMalloc(&in, 8 * 64 * sizeof(float));
    cudaMalloc(&out, 8 * 64 * sizeof(float));
    cudaMemset(in, 0, 8 * 64 * sizeof(float));
    send_row<<<8, 64>>>(in, out);
    return cudaDeviceSynchronize() != cudaSuccess;
}
