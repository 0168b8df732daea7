// Kernel:   a double buffer of bulk copies; the index of the tile loaded ahead is kept within the array.
// Launch:   grid 8, block 128, static shared memory only, tiles = 6
// Target:   sm_90
// Expected finding: none
// Line:     -
// Why:      only tiles that exist are loaded ahead, and each is waited for.
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

__global__ void load_ahead(const float* in, float* out, int tiles) {
    __shared__ alignas(128) float tile[2][128];
    __shared__ alignas(8) uint64_t full[2];
    const int t = threadIdx.x;
    const float* src = in + blockIdx.x * tiles * 128;
    if (t == 0) {
        for (int s = 0; s < 2; ++s) mbar_init(&full[s], 1);
        mbar_init_fence();
        mbar_arrive_expect_tx(&full[0], sizeof(tile[0]));
        bulk_load(tile[0], src, sizeof(tile[0]), &full[0]);
    }
    __syncthreads();
    float sum = 0.f;
    for (int k = 0; k < tiles; ++k) {
        if (t == 0 && k + 1 < tiles) {
            const int n = min(k + 1, tiles - 1), s = (k + 1) % 2;
            mbar_arrive_expect_tx(&full[s], sizeof(tile[0]));
            bulk_load(tile[s], src + n * 128, sizeof(tile[0]), &full[s]);
        }
        mbar_wait(&full[k % 2], (k / 2) & 1);
        sum += tile[k % 2][127 - t];
        fence_async_proxy();
        __syncthreads();
    }
    out[blockIdx.x * 128 + t] = sum;
}

int main() {
    float *in, *out;
    cudaMalloc(&in, 8 * 6 * 128 * sizeof(float));
    cudaMalloc(&out, 8 * 128 * sizeof(float));
    cudaMemset(in, 0, 8 * 6 * 128 * sizeof(float));
    load_ahead<<<8, 128>>>(in, out, 6);
    return cudaDeviceSynchronize() != cudaSuccess;
}
