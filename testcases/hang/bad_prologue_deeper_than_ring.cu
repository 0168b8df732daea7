// Kernel:   thread 0 fills a ring of three slots ahead and then refills a slot after each use.
// Launch:   grid 8, block 128, static shared memory only, tiles = 8
// Target:   sm_90
// Expected finding: hang
// Line:     56
// Why:      the prologue wants a fourth slot; it waits for the first one to be used, which thread 0 itself can only
//           do after the prologue.
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

constexpr int kStages = 3, kTile = 128;
constexpr int kAhead = 4;

__global__ void run_ahead(const float* in, float* out, int tiles) {
    __shared__ alignas(128) float ring[kStages][kTile];
    __shared__ alignas(8) uint64_t full[kStages], empty[kStages];
    const int t = threadIdx.x;
    if (t < kStages) {
        mbar_init(&full[t], 1);
        mbar_init(&empty[t], kTile);
        mbar_init_fence();
    }
    __syncthreads();

    const auto load = [&](int k) {
        const int s = k % kStages;
        mbar_wait(&empty[s], ((k / kStages) & 1) ^ 1);  // BUG: hang
        mbar_arrive_expect_tx(&full[s], sizeof(ring[0]));
        bulk_load(ring[s], in + (blockIdx.x * tiles + k) * kTile, sizeof(ring[0]), &full[s]);
    };
    if (t == 0) {
        for (int k = 0; k < kAhead; ++k) load(k);
    }
    float sum = 0.f;
    for (int k = 0; k < tiles; ++k) {
        const int s = k % kStages;
        mbar_wait(&full[s], (k / kStages) & 1);
        sum += ring[s][kTile - 1 - t];
        fence_async_proxy();
        mbar_arrive(&empty[s]);
        if (t == 0 && k + kAhead < tiles) load(k + kAhead);
    }
    out[blockIdx.x * kTile + t] = sum;
}

int main() {
    float *in, *out;
    cudaMalloc(&in, 8 * 8 * kTile * sizeof(float));
    cudaMalloc(&out, 8 * kTile * sizeof(float));
    cudaMemset(in, 0, 8 * 8 * kTile * sizeof(float));
    run_ahead<<<8, 128>>>(in, out, 8);
    return cudaDeviceSynchronize() != cudaSuccess;
}
