// Kernel:   warp 0 loads a tile with a bulk copy; the block waits for it.
// Launch:   grid 8, block 128, static shared memory only
// Target:   sm_90
// Expected finding: tx-count-mismatch
// Also acceptable: hang, overlapping-copies, leaked-copy
// Line:     52
// Why:      all 32 lanes issue the copy, so 32 times the announced bytes arrive.
#include <cstdint>
#include <cuda_runtime.h>

__device__ __forceinline__ uint32_t smem_addr(const void* p) {
    return static_cast<uint32_t>(__cvta_generic_to_shared(p));
}
__device__ __forceinline__ bool elect_one() {
    uint32_t elected;
    asm volatile("{ .reg .pred p; elect.sync _|p, 0xffffffff; selp.u32 %0, 1, 0, p; }" : "=r"(elected)::"memory");
    return elected != 0;
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
__device__ __forceinline__ void bulk_load(void* dst, const void* src, uint32_t bytes, uint64_t* bar) {
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
                 ::"r"(smem_addr(dst)), "l"(src), "r"(bytes), "r"(smem_addr(bar)) : "memory");
}

__global__ void load_tile(const float* in, float* out) {
    __shared__ alignas(128) float tile[512];
    __shared__ alignas(8) uint64_t bar;
    const int t = threadIdx.x;
    if (t == 0) {
        mbar_init(&bar, 1);
        mbar_init_fence();
    }
    __syncthreads();
    if (t < 32) {
        if (elect_one()) mbar_arrive_expect_tx(&bar, sizeof(tile));
        bulk_load(tile, in + blockIdx.x * 512, sizeof(tile), &bar);  // BUG: tx-count-mismatch
    }
    mbar_wait(&bar, 0);
    for (int i = t; i < 512; i += 128) out[blockIdx.x * 512 + i] = tile[511 - i];
}

int main() {
    float *in, *out;
    cudaMalloc(&in, 8 * 512 * sizeof(float));
    cudaMalloc(&out, 8 * 512 * sizeof(float));
    cudaMemset(in, 0, 8 * 512 * sizeof(float));
    load_tile<<<8, 128>>>(in, out);
    return cudaDeviceSynchronize() != cudaSuccess;
}
