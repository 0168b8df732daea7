// Kernel:   each thread of a two-block cluster sends a word to the other block with st.async; the receiver waits on
//           its mbarrier and reads the words.
// Launch:   grid 8, block 64, cluster 2, static shared memory only
// Target:   sm_90
// Expected finding: wrong-space
// Also acceptable: tx-count-mismatch
// Line:     65
// Why:      the word goes to the other block and the barrier named is that of the sender; both must lie in the same
//           block.
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
__device__ __forceinline__ void st_async(uint32_t dst, uint32_t value, uint32_t bar) {
    asm volatile("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.u32 [%0], %1, [%2];"
                 ::"r"(dst), "r"(value), "r"(bar) : "memory");
}

__global__ void __cluster_dims__(2, 1, 1) pass_on(const int* in, int* out) {
    __shared__ alignas(16) uint32_t inbox[64];
    __shared__ alignas(8) uint64_t received;
    const int t = threadIdx.x;
    const uint32_t peer = cluster_rank() ^ 1;
    if (t == 0) {
        mbar_init(&received, 1);
        mbar_init_fence();
        mbar_arrive_expect_tx(&received, sizeof(inbox));
    }
    cluster_sync();
    const uint32_t value = in[blockIdx.x * 64 + t];
    st_async(map_to_rank(&inbox[t], peer), value, smem_addr(&received));  // BUG: wrong-space
    mbar_wait_cluster(&received, 0);
    out[blockIdx.x * 64 + t] = inbox[63 - t];
    cluster_sync();
}

int main() {
    int *in, *out;
    cudaMalloc(&in, 8 * 64 * sizeof(int));
    cudaMalloc(&out, 8 * 64 * sizeof(int));
    cudaMemset(in, 0, 8 * 64 * sizeof(int));
    pass_on<<<8, 64>>>(in, out);
    return cudaDeviceSynchronize() != cudaSuccess;
}
