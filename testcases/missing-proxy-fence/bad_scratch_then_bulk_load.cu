// Kernel:   a block writes a row to global scratch memory and loads it back with a bulk copy.
// Launch:   grid 8, block 128, static shared memory only
// Target:   sm_90
// Expected finding: missing-proxy-fence
// Line:     48
// Why:      the row is written by ordinary stores and read by a bulk copy of the same grid without a proxy fence.
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

__global__ void there_and_back(const float* in, float* scratch, float* out) {
    __shared__ alignas(128) float row[128];
    __shared__ alignas(8) uint64_t bar;
    const int t = threadIdx.x;
    float* mine = scratch + blockIdx.x * 128;
    mine[t] = 2.f * in[blockIdx.x * 128 + t];
    if (t == 0) {
        mbar_init(&bar, 1);
        mbar_init_fence();
    }
    __syncthreads();
    if (t == 0) {
        mbar_arrive_expect_tx(&bar, sizeof(row));
        bulk_load(row, mine, sizeof(row), &bar);  // BUG: missing-proxy-fence
    }
    mbar_wait(&bar, 0);
    out[blockIdx.x * 128 + t] = row[127 - t];
}

int main() {
    float *in, *scratch, *out;
    cudaMalloc(&in, 8 * 128 * sizeof(float));
    cudaMalloc(&scratch, 8 * 128 * sizeof(float));
    cudaMalloc(&out, 8 * 128 * sizeof(float));
    cudaMemset(in, 0, 8 * 128 * sizeof(float));
    there_and_back<<<8, 128>>>(in, scratch, out);
    return cudaDeviceSynchronize() != cudaSuccess;
}
