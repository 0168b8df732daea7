// Kernel:   a part of each row is loaded with a bulk copy.
// Launch:   grid 8, block 256, static shared memory only
// Target:   sm_90
// Expected finding: misaligned-copy
// Line:     48
// Why:      the size of a bulk copy has to be a multiple of 16 bytes, and 250 floats are 1000.
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

constexpr int kFloats = 250;

__global__ void load_part(const float* in, float* out) {
    __shared__ alignas(128) float tile[256];
    __shared__ alignas(8) uint64_t bar;
    const int t = threadIdx.x;
    if (t == 0) {
        mbar_init(&bar, 1);
        mbar_init_fence();
    }
    __syncthreads();
    if (t == 0) {
        mbar_arrive_expect_tx(&bar, kFloats * sizeof(float));
        bulk_load(tile, in + blockIdx.x * 256 + 4, kFloats * sizeof(float), &bar);  // BUG: misaligned-copy
    }
    mbar_wait(&bar, 0);
    if (t < kFloats) out[blockIdx.x * 256 + t] = tile[kFloats - 1 - t];
}

int main() {
    float *in, *out;
    cudaMalloc(&in, 8 * 256 * sizeof(float));
    cudaMalloc(&out, 8 * 256 * sizeof(float));
    cudaMemset(in, 0, 8 * 256 * sizeof(float));
    load_part<<<8, 256>>>(in, out);
    return cudaDeviceSynchronize() != cudaSuccess;
}
