// Kernel:   rank 0 of a pair writes a row to global memory with a bulk store; rank 1 reads it after a cluster
//           barrier.
// Launch:   grid 8, block 256, cluster 2, static shared memory only
// Target:   sm_90
// Expected finding: none
// Line:     -
// Why:      the storing thread waits until the row is written before it arrives at the cluster barrier.
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
__device__ __forceinline__ void cluster_sync() {
    asm volatile("barrier.cluster.arrive.release;" ::: "memory");
    asm volatile("barrier.cluster.wait.acquire;" ::: "memory");
}
__device__ __forceinline__ void bulk_store(void* dst, const void* src, uint32_t bytes) {
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;"
                 ::"l"(dst), "r"(smem_addr(src)), "r"(bytes) : "memory");
}
__device__ __forceinline__ void bulk_commit() { asm volatile("cp.async.bulk.commit_group;" ::: "memory"); }
template <int N>
__device__ __forceinline__ void bulk_wait() {
    asm volatile("cp.async.bulk.wait_group %0;" ::"n"(N) : "memory");
}
__device__ __forceinline__ void fence_async_proxy() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }

__global__ void __cluster_dims__(2, 1, 1) through_global(const float* in, float* tmp, float* out) {
    __shared__ alignas(128) float row[256];
    const int t = threadIdx.x;
    const int base = blockIdx.x / 2 * 256;
    const uint32_t rank = cluster_rank();
    if (rank == 0) {
        row[t] = -in[base + t];
        fence_async_proxy();
        __syncthreads();
        if (t == 0) {
            bulk_store(tmp + base, row, sizeof(row));
            bulk_commit();
            bulk_wait<0>();
        }
    }
    cluster_sync();
    if (rank == 1) out[base + t] = tmp[base + 255 - t];
}

int main() {
    float *in, *tmp, *out;
    cudaMalloc(&in, 4 * 256 * sizeof(float));
    cudaMalloc(&tmp, 4 * 256 * sizeof(float));
    cudaMalloc(&out, 4 * 256 * sizeof(float));
    cudaMemset(in, 0, 4 * 256 * sizeof(float));
    through_global<<<8, 256>>>(in, tmp, out);
    return cudaDeviceSynchronize() != cudaSuccess;
}
