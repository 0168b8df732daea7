// Kernel:   consumers poll a barrier with try_wait and sleep between the attempts; the producer polls with
//           test_wait.
// Launch:   grid 10, block 96, static shared memory only, tiles = 9
// Target:   sm_90
// Expected finding: none
// Line:     -
// Why:      a poll that returns false is repeated; how often and after what pause does not matter.
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
__device__ __forceinline__ bool mbar_test_wait(uint64_t* bar, uint32_t parity) {
    uint32_t done;
    asm volatile("{ .reg .pred p; mbarrier.test_wait.parity.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
                 : "=r"(done) : "r"(smem_addr(bar)), "r"(parity) : "memory");
    return done != 0;
}
__device__ __forceinline__ void bulk_load(void* dst, const void* src, uint32_t bytes, uint64_t* bar) {
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
                 ::"r"(smem_addr(dst)), "l"(src), "r"(bytes), "r"(smem_addr(bar)) : "memory");
}
__device__ __forceinline__ void fence_async_proxy() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }

constexpr int kTile = 64;

__global__ void backing_off(const float* in, float* out, int tiles) {
    __shared__ alignas(128) float tile[kTile];
    __shared__ alignas(8) uint64_t full, empty;
    const int t = threadIdx.x;
    if (t == 0) {
        mbar_init(&full, 1);
        mbar_init(&empty, kTile);
        mbar_init_fence();
    }
    __syncthreads();
    if (t >= kTile) {
        if (t == kTile) {
            for (int k = 0; k < tiles; ++k) {
                while (!mbar_test_wait(&empty, (k & 1) ^ 1)) {
                }
                mbar_arrive_expect_tx(&full, sizeof(tile));
                bulk_load(tile, in + (blockIdx.x * tiles + k) * kTile, sizeof(tile), &full);
            }
        }
        return;
    }
    float sum = 0.f;
    for (int k = 0; k < tiles; ++k) {
        for (unsigned pause = 8; !mbar_try_wait(&full, k & 1); pause = min(pause * 2, 256u)) __nanosleep(pause);
        sum += tile[kTile - 1 - t];
        fence_async_proxy();
        mbar_arrive(&empty);
    }
    out[blockIdx.x * kTile + t] = sum;
}

int main() {
    float *in, *out;
    cudaMalloc(&in, 10 * 9 * kTile * sizeof(float));
    cudaMalloc(&out, 10 * kTile * sizeof(float));
    cudaMemset(in, 0, 10 * 9 * kTile * sizeof(float));
    backing_off<<<10, 96>>>(in, out, 9);
    return cudaDeviceSynchronize() != cudaSuccess;
}
