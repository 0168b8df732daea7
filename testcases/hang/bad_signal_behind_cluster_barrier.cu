// Kernel:   rank 0 of a pair tells rank 1 through its mbarrier that it may go on; both meet at a cluster barrier.
// Launch:   grid 8, block 64, cluster 2, static shared memory only
// Target:   sm_90
// Expected finding: hang
// Also acceptable: divergent-protocol
// Line:     61
// Why:      rank 0 signals only behind the cluster barrier, which rank 1 reaches only after the signal: each waits
//           for the other.
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
__device__ __forceinline__ void mbar_arrive_remote(uint64_t* bar, uint32_t rank) {
    asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(map_to_rank(bar, rank)) : "memory");
}
__device__ __forceinline__ void mbar_wait_cluster(uint64_t* bar, uint32_t parity) {
    uint32_t done = 0;
    while (!done) {
        asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%1], %2;\n"
                     "  selp.u32 %0, 1, 0, p; }"
                     : "=r"(done) : "r"(smem_addr(bar)), "r"(parity) : "memory");
    }
}

__global__ void __cluster_dims__(2, 1, 1) in_order(const float* in, float* out) {
    __shared__ alignas(8) uint64_t go;
    const int t = threadIdx.x;
    const uint32_t rank = cluster_rank();
    if (t == 0) {
        mbar_init(&go, 64);
        mbar_init_fence();
    }
    cluster_sync();
    const float v = 2.f * in[blockIdx.x * 64 + t];
    if (rank == 0) {
        cluster_sync();
        mbar_arrive_remote(&go, 1);
    } else {
        mbar_wait_cluster(&go, 0);  // BUG: hang
        cluster_sync();
    }
    out[blockIdx.x * 64 + t] = v;
    cluster_sync();
}

int main() {
    float *in, *out;
    cudaMalloc(&in, 8 * 64 * sizeof(float));
    cudaMalloc(&out, 8 * 64 * sizeof(float));
    cudaMemset(in, 0, 8 * 64 * sizeof(float));
    in_order<<<8, 64>>>(in, out);
    return cudaDeviceSynchronize() != cudaSuccess;
}
