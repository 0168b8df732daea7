// Kernel:   one buffer, two tiles, a barrier for each; thread 0 starts the second tile when the first has been
//           used.
// Launch:   grid 8, block 128, static shared memory only
// Target:   sm_90
// Expected finding: premature-overwrite
// Also acceptable: missing-barrier
// Line:     51
// Why:      thread 0 refills the buffer when it has read its own element; others may not have read theirs.
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
__device__ __forceinline__ void fence_async_proxy() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }

__global__ void one_buffer(const float* in, float* out) {
    __shared__ alignas(128) float tile[128];
    __shared__ alignas(8) uint64_t full[2];
    const int t = threadIdx.x;
    if (t == 0) {
        for (int k = 0; k < 2; ++k) mbar_init(&full[k], 1);
        mbar_init_fence();
    }
    __syncthreads();
    float sum = 0.f;
    for (int k = 0; k < 2; ++k) {
        if (t == 0) {
            mbar_arrive_expect_tx(&full[k], sizeof(tile));
            bulk_load(tile, in + (blockIdx.x * 2 + k) * 128, sizeof(tile), &full[k]);  // BUG: premature-overwrite
        }
        mbar_wait(&full[k], 0);
        sum += tile[127 - t];
        fence_async_proxy();
    }
    out[blockIdx.x * 128 + t] = sum;
}

int main() {
    float *in, *out;
    cudaMalloc(&in, 8 * 256 * sizeof(float));
    cudaMalloc(&out, 8 * 128 * sizeof(float));
    cudaMemset(in, 0, 8 * 256 * sizeof(float));
    one_buffer<<<8, 128>>>(in, out);
    return cudaDeviceSynchronize() != cudaSuccess;
}
