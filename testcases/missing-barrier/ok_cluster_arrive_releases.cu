// Kernel:   each block of a pair reads the row that the other one wrote to its own shared memory.
// Launch:   grid 8, block 128, cluster 2, static shared memory only
// Target:   sm_90
// Expected finding: none
// Line:     -
// Why:      the arrival releases the row, the wait acquires it.
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
__device__ __forceinline__ void cluster_arrive() { asm volatile("barrier.cluster.arrive.release;" ::: "memory"); }
__device__ __forceinline__ void cluster_wait() { asm volatile("barrier.cluster.wait.acquire;" ::: "memory"); }
__device__ __forceinline__ void cluster_sync() {
    asm volatile("barrier.cluster.arrive.release;" ::: "memory");
    asm volatile("barrier.cluster.wait.acquire;" ::: "memory");
}

__device__ __forceinline__ float load_remote(uint32_t addr) {
    float value;
    asm volatile("ld.shared::cluster.f32 %0, [%1];" : "=f"(value) : "r"(addr) : "memory");
    return value;
}

__global__ void __cluster_dims__(2, 1, 1) swap_rows(const float* in, float* out) {
    __shared__ float row[128];
    const int t = threadIdx.x;
    const uint32_t peer = cluster_rank() ^ 1;
    row[t] = in[blockIdx.x * 128 + t];
    cluster_arrive();
    cluster_wait();
    out[blockIdx.x * 128 + t] = load_remote(map_to_rank(&row[127 - t], peer));
    cluster_sync();
}

int main() {
    float *in, *out;
    cudaMalloc(&in, 8 * 128 * sizeof(float));
    cudaMalloc(&out, 8 * 128 * sizeof(float));
    cudaMemset(in, 0, 8 * 128 * sizeof(float));
    swap_rows<<<8, 128>>>(in, out);
    return cudaDeviceSynchronize() != cudaSuccess;
}
