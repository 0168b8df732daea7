// Kernel:   each block of a pair stores a row into the shared memory of the other.
// Launch:   grid 8, block 128, cluster 2, static shared memory only
// Target:   sm_90
// Expected finding: cluster-lifetime
// Line:     36
// Why:      nothing says that the peer has started when the store goes to its shared memory.
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

__device__ __forceinline__ void store_remote(uint32_t addr, float value) {
    asm volatile("st.shared::cluster.f32 [%0], %1;" ::"r"(addr), "f"(value) : "memory");
}

__global__ void __cluster_dims__(2, 1, 1) send(const float* in, float* out) {
    __shared__ float inbox[128];
    const int t = threadIdx.x;
    __syncthreads();
    store_remote(map_to_rank(&inbox[127 - t], cluster_rank() ^ 1), in[blockIdx.x * 128 + t]);  // BUG: cluster-lifetime
    cluster_sync();
    out[blockIdx.x * 128 + t] = inbox[t];
}

int main() {
    float *in, *out;
    cudaMalloc(&in, 8 * 128 * sizeof(float));
    cudaMalloc(&out, 8 * 128 * sizeof(float));
    cudaMemset(in, 0, 8 * 128 * sizeof(float));
    send<<<8, 128>>>(in, out);
    return cudaDeviceSynchronize() != cudaSuccess;
}
