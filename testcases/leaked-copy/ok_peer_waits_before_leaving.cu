// Kernel:   rank 0 of a pair multicasts a row into both blocks; rank 1 turns out not to need it.
// Launch:   grid 8, block 256, cluster 2, static shared memory only
// Target:   sm_90
// Expected finding: none
// Line:     -
// Why:      rank 1 leaves after the row has arrived in its shared memory.
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
__device__ __forceinline__ void bulk_load_multicast(void* dst, const void* src, uint32_t bytes, uint64_t* bar,
                                                    uint16_t mask) {
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster "
                 "[%0], [%1], %2, [%3], %4;"
                 ::"r"(smem_addr(dst)), "l"(src), "r"(bytes), "r"(smem_addr(bar)), "h"(mask) : "memory");
}

__global__ void __cluster_dims__(2, 1, 1) maybe_row(const float* in, float* out) {
    __shared__ alignas(128) float row[256];
    __shared__ alignas(8) uint64_t bar;
    const int t = threadIdx.x;
    const uint32_t rank = cluster_rank();
    if (t == 0) {
        mbar_init(&bar, 1);
        mbar_init_fence();
        mbar_arrive_expect_tx(&bar, sizeof(row));
    }
    cluster_sync();
    if (rank == 0 && t == 0) bulk_load_multicast(row, in + blockIdx.x / 2 * 256, sizeof(row), &bar, 3);
    mbar_wait(&bar, 0);
    if (rank == 1) return;
    out[blockIdx.x / 2 * 256 + t] = row[255 - t];
}

int main() {
    float *in, *out;
    cudaMalloc(&in, 4 * 256 * sizeof(float));
    cudaMalloc(&out, 4 * 256 * sizeof(float));
    cudaMemset(in, 0, 4 * 256 * sizeof(float));
    maybe_row<<<8, 256>>>(in, out);
    return cudaDeviceSynchronize() != cudaSuccess;
}
