// Kernel:   consumers of a three-stage ring ask for a tile with try_wait.
// Launch:   grid 10, block 160, static shared memory only, tiles = 20
// Target:   sm_90
// Expected finding: phase-race
// Line:     71
// Why:      the first try_wait asks for the parity of the phase before the first one, which is over from the start: asked
//           before the copy has come, it is true, and the first tile is read without a wait.
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
__device__ __forceinline__ bool mbar_try_wait(uint64_t* bar, uint32_t parity) {
    uint32_t done;
    asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
                 : "=r"(done) : "r"(smem_addr(bar)), "r"(parity) : "memory");
    return done != 0;
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

constexpr int kStages = 3, kTile = 128;

__global__ void peeking_ring(const float* in, float* out, int tiles) {
    __shared__ alignas(128) float ring[kStages][kTile];
    __shared__ alignas(8) uint64_t full[kStages], empty[kStages];
    const int t = threadIdx.x;
    if (t < kStages) {
        mbar_init(&full[t], 1);
        mbar_init(&empty[t], kTile);
        mbar_init_fence();
    }
    __syncthreads();

    if (t >= kTile) {
        if (t == kTile) {
            for (int k = 0; k < tiles; ++k) {
                const int s = k % kStages;
                mbar_wait(&empty[s], ((k / kStages) & 1) ^ 1);
                mbar_arrive_expect_tx(&full[s], sizeof(ring[0]));
                bulk_load(ring[s], in + (blockIdx.x * tiles + k) * kTile, sizeof(ring[0]), &full[s]);
            }
        }
        return;
    }
    float sum = 0.f;
    bool ready = mbar_try_wait(&full[0], 1);  // BUG: phase-race
    for (int k = 0; k < tiles; ++k) {
        const int s = k % kStages;
        if (!ready) mbar_wait(&full[s], (k / kStages) & 1);
        sum += ring[s][kTile - 1 - t];
        fence_async_proxy();
        mbar_arrive(&empty[s]);
        const int n = k + 1;
        if (n < tiles) ready = mbar_try_wait(&full[n % kStages], (n / kStages) & 1);
    }
    out[blockIdx.x * kTile + t] = sum;
}

int main() {
    float *in, *out;
    cudaMalloc(&in, 10 * 20 * kTile * sizeof(float));
    cudaMalloc(&out, 10 * kTile * sizeof(float));
    cudaMemset(in, 0, 10 * 20 * kTile * sizeof(float));
    peeking_ring<<<10, 160>>>(in, out, 20);
    return cudaDeviceSynchronize() != cudaSuccess;
}
