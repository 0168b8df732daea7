// Kernel:   thread 0 starts a bulk copy on a barrier that all 128 threads arrive at.
// Launch:   grid 16, block 128, static shared memory only
// Target:   sm_90
// Expected finding: phase-race
// Also acceptable: missing-wait, tx-count-mismatch
// Line:     51
// Why:      thread 0 announces the bytes after its own arrival: the phase can be complete by then, with the copy
//           still to come.
#include <cstdint>
#include <cuda_runtime.h>

__device__ __forceinline__ uint32_t smem_addr(const void* p) {
    return static_cast<uint32_t>(__cvta_generic_to_shared(p));
}
__device__ __forceinline__ void mbar_init(uint64_t* bar, uint32_t count) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(smem_addr(bar)), "r"(count) : "memory");
}
__device__ __forceinline__ void mbar_init_fence() {
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}
__device__ __forceinline__ void mbar_arrive(uint64_t* bar) {
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(smem_addr(bar)) : "memory");
}
__device__ __forceinline__ void mbar_expect_tx(uint64_t* bar, uint32_t bytes) {
    asm volatile("mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%0], %1;" ::"r"(smem_addr(bar)), "r"(bytes)
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

__global__ void scaled_tile(const float* in, float* out) {
    __shared__ alignas(128) float tile[512];
    __shared__ alignas(8) uint64_t bar;
    const int t = threadIdx.x;
    if (t == 0) {
        mbar_init(&bar, 128);
        mbar_init_fence();
    }
    __syncthreads();
    mbar_arrive(&bar);
    if (t == 0) {
        mbar_expect_tx(&bar, sizeof(tile));  // BUG: phase-race
        bulk_load(tile, in + blockIdx.x * 512, sizeof(tile), &bar);
    }
    mbar_wait(&bar, 0);
    for (int i = t; i < 512; i += 128) out[blockIdx.x * 512 + i] = 2.f * tile[511 - i];
}

int main() {
    float *in, *out;
    cudaMalloc(&in, 16 * 512 * sizeof(float));
    cudaMalloc(&out, 16 * 512 * sizeof(float));
    cudaMemset(in, 0, 16 * 512 * sizeof(float));
    scaled_tile<<<16, 128>>>(in, out);
    return cudaDeviceSynchronize() != cudaSuccess;
}
