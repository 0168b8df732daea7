// Kernel:   each block of a pair writes a row, arrives at the mbarrier of its peer and reads the row of the peer
//           when its own mbarrier is complete.
// Launch:   grid 8, block 64, cluster 2, static shared memory only
// Target:   sm_90
// Expected finding: none
// Line:     -
// Why:      arrival and wait have cluster scope, which includes both blocks.
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

__device__ __forceinline__ float load_remote(uint32_t addr) {
    float value;
    asm volatile("ld.shared::cluster.f32 %0, [%1];" : "=f"(value) : "r"(addr) : "memory");
    return value;
}

__global__ void __cluster_dims__(2, 1, 1) swap_rows(const float* in, float* out) {
    __shared__ float row[64];
    __shared__ alignas(8) uint64_t ready;
    const int t = threadIdx.x;
    const uint32_t peer = cluster_rank() ^ 1;
    if (t == 0) {
        mbar_init(&ready, 64);
        mbar_init_fence();
    }
    cluster_sync();
    row[t] = 2.f * in[blockIdx.x * 64 + t];
    mbar_arrive_remote(&ready, peer);
    mbar_wait_cluster(&ready, 0);
    out[blockIdx.x * 64 + t] = load_remote(map_to_rank(&row[63 - t], peer));
    cluster_sync();
}

int main() {
    float *in, *out;
    cudaMalloc(&in, 8 * 64 * sizeof(float));
    cudaMalloc(&out, 8 * 64 * sizeof(float));
    cudaMemset(in, 0, 8 * 64 * sizeof(float));
    swap_rows<<<8, 64>>>(in, out);
    return cudaDeviceSynchronize() != cudaSuccess;
}
