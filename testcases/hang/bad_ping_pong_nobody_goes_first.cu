// Kernel:   two consumer warpgroups take the tiles of a four-stage ring in turn and add to a common total in tile
//           order; two named barriers pass the turn to and fro.
// Launch:   grid 8, block 384, static shared memory only, tiles = 20
// Target:   sm_90
// Expected finding: hang
// Also acceptable: arrival-count-mismatch
// Line:     85
// Why:      each warpgroup waits for the other one to pass the turn, and nobody gives the first.
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
__device__ __forceinline__ void bar_arrive(int id, int threads) {
    asm volatile("bar.arrive %0, %1;" ::"r"(id), "r"(threads) : "memory");
}
__device__ __forceinline__ void barrier_sync(int id, int threads) {
    asm volatile("barrier.cta.sync %0, %1;" ::"r"(id), "r"(threads) : "memory");
}

constexpr int kStages = 4, kTile = 512;  // floats

__global__ void __launch_bounds__(384, 1) ping_pong(const float* in, float* out, int tiles) {
    __shared__ alignas(128) float ring[kStages][kTile];
    __shared__ alignas(128) float total[128];
    __shared__ alignas(8) uint64_t full[kStages], empty[kStages];
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    if (threadIdx.x == 0) {
        for (int s = 0; s < kStages; ++s) {
            mbar_init(&full[s], 1);
            mbar_init(&empty[s], 4);
        }
        mbar_init_fence();
    }
    __syncthreads();

    if (warp < 4) {
        if (warp == 0 && lane == 0) {
            for (int k = 0; k < tiles; ++k) {
                const int s = k % kStages;
                mbar_wait(&empty[s], ((k / kStages) & 1) ^ 1);
                mbar_arrive_expect_tx(&full[s], sizeof(ring[0]));
                bulk_load(ring[s], in + (blockIdx.x * tiles + k) * kTile, sizeof(ring[0]), &full[s]);
            }
        }
        return;
    }
    // The consumer warpgroups take the tiles in turn; named barrier 1 + g tells group g that it may go.
    const int group = threadIdx.x / 128 - 1, t = threadIdx.x % 128;
    for (int k = group; k < tiles; k += 2) {
        const int s = k % kStages;
        mbar_wait(&full[s], (k / kStages) & 1);
        float v = 0.f;
        for (int i = t; i < kTile; i += 128) v += ring[s][kTile - 1 - i];
        fence_async_proxy();
        __syncwarp();
        if (lane == 0) mbar_arrive(&empty[s]);

        barrier_sync(1 + group, 256);  // aligned and unaligned forms may meet at one barrier  // BUG: hang
        total[127 - t] = k == 0 ? v : total[127 - t] + v;  // in tile order
        if (k + 1 < tiles) bar_arrive(2 - group, 256);
    }
    if (group == (tiles - 1) % 2) out[blockIdx.x * 128 + t] = total[127 - t];
}

int main() {
    float *in, *out;
    cudaMalloc(&in, 8 * 20 * kTile * sizeof(float));
    cudaMalloc(&out, 8 * 128 * sizeof(float));
    cudaMemset(in, 0, 8 * 20 * kTile * sizeof(float));
    ping_pong<<<8, 384>>>(in, out, 20);
    return cudaDeviceSynchronize() != cudaSuccess;
}
