// Kernel:   a producer thread sends a header, by an ordinary store, along with each tile.
// Launch:   grid 8, block 96, static shared memory only, tiles = 5
// Target:   sm_90
// Expected finding: missing-barrier
// Line:     60
// Why:      the store comes after the arrival of the producer; that the copy completes later does not publish it.
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

constexpr int kTile = 64, kMaxTiles = 8;

__global__ void tagged(const float* in, const float* factors, float* out, int tiles) {
    __shared__ alignas(128) float tile[kMaxTiles][kTile];
    __shared__ float factor[kMaxTiles];
    __shared__ alignas(8) uint64_t full[kMaxTiles];
    const int t = threadIdx.x;
    if (t < tiles) {
        mbar_init(&full[t], 1);
        mbar_init_fence();
    }
    __syncthreads();
    if (t >= kTile) {
        if (t == kTile) {
            for (int k = 0; k < tiles; ++k) {
                mbar_arrive_expect_tx(&full[k], sizeof(tile[0]));
                factor[k] = factors[k];
                bulk_load(tile[k], in + (blockIdx.x * tiles + k) * kTile, sizeof(tile[0]), &full[k]);
            }
        }
        return;
    }
    float sum = 0.f;
    for (int k = 0; k < tiles; ++k) {
        mbar_wait(&full[k], 0);
        sum += tile[k][kTile - 1 - t] * factor[k];  // BUG: missing-barrier
    }
    out[blockIdx.x * kTile + t] = sum;
}

int main() {
    float *in, *factors, *out;
    cudaMalloc(&in, 8 * 5 * kTile * sizeof(float));
    cudaMalloc(&factors, 5 * sizeof(float));
    cudaMalloc(&out, 8 * kTile * sizeof(float));
    cudaMemset(in, 0, 8 * 5 * kTile * sizeof(float));
    tagged<<<8, 96>>>(in, factors, out, 5);
    return cudaDeviceSynchronize() != cudaSuccess;
}
