// Kernel:   one slot that thread 0 fills with bulk copies; 128 threads sum each tile.
// Launch:   grid 4, block 128, static shared memory only, tiles = 10
// Target:   sm_90
// Audit:    with one slot a tile can only be issued when the one before has been read, and is waited for at once: a bulk
//           copy, but no overlap.
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
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(smem_addr(bar)), "r"(bytes) : "memory");
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

__global__ void tile_sums(const float* in, float* out, int tiles) {
    __shared__ alignas(128) float tile[512];
    __shared__ alignas(8) uint64_t full;
    const int t = threadIdx.x;
    const float* src = in + blockIdx.x * tiles * 512;
    if (t == 0) {
        mbar_init(&full, 1);
        mbar_init_fence();
    }
    __syncthreads();
    float sum = 0.f;
    for (int k = 0; k < tiles; ++k) {
        if (t == 0) {
            mbar_arrive_expect_tx(&full, sizeof(tile));
            bulk_load(tile, src + k * 512, sizeof(tile), &full);  // BECOMES: cp.async.bulk
        }
        mbar_wait(&full, k & 1);  // PERF: perf-no-overlap
        for (int i = 0; i < 4; ++i) sum += tile[t + 128 * i];
        __syncthreads();
    }
    out[blockIdx.x * 128 + t] = sum;
}

int main() {
    float *in, *out;
    cudaMalloc(&in, 4 * 10 * 512 * sizeof(float));
    cudaMalloc(&out, 4 * 128 * sizeof(float));
    cudaMemset(in, 0, 4 * 10 * 512 * sizeof(float));
    tile_sums<<<4, 128>>>(in, out, 10);
    return cudaDeviceSynchronize() != cudaSuccess;
}
