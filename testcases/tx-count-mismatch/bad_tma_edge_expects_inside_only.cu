// Kernel:   blocks sum rows of 100 floats in boxes of 32x16; the last box of each row reaches past the tensor.
// Launch:   grid 4, block 128, static shared memory only, width = 100, box 32x16 float
// Target:   sm_90
// Expected finding: tx-count-mismatch
// Also acceptable: hang
// Line:     53
// Why:      in the last box only 4 of 32 columns lie inside the tensor, but the copy writes and counts the whole
//           box.
#include <cstdint>
#include <cuda.h>
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
__device__ __forceinline__ void tma_load_2d(void* dst, const CUtensorMap* map, int x, int y, uint64_t* bar) {
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];"
                 ::"r"(smem_addr(dst)), "l"(map), "r"(x), "r"(y), "r"(smem_addr(bar)) : "memory");
}
__device__ __forceinline__ void fence_async_proxy() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }

__global__ void row_sums(const __grid_constant__ CUtensorMap map, float* out, int width) {
    __shared__ alignas(128) float tile[16][32];
    __shared__ alignas(8) uint64_t bar;
    const int t = threadIdx.x;
    if (t == 0) {
        mbar_init(&bar, 1);
        mbar_init_fence();
    }
    __syncthreads();

    float sum = 0.f;
    for (int k = 0; k * 32 < width; ++k) {
        if (t == 0) {
            const int inside = min(32, width - k * 32);
            mbar_arrive_expect_tx(&bar, inside * 16 * sizeof(float));  // BUG: tx-count-mismatch
            tma_load_2d(tile, &map, k * 32, blockIdx.x * 16, &bar);
        }
        mbar_wait(&bar, k & 1);
        for (int i = 0; i < 4; ++i) sum += tile[t / 8][t % 8 + 8 * i];
        fence_async_proxy();
        __syncthreads();
    }
    out[blockIdx.x * 128 + t] = sum;
}

int main() {
    float *in, *out;
    cudaMalloc(&in, 100 * 64 * sizeof(float));
    cudaMalloc(&out, 4 * 128 * sizeof(float));
    CUtensorMap map;
    const cuuint64_t dims[2] = {100, 64}, pitch[1] = {100 * sizeof(float)};
    const cuuint32_t box[2] = {32, 16}, steps[2] = {1, 1};
    cuTensorMapEncodeTiled(&map, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 2, in, dims, pitch, box, steps,
                           CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_L2_PROMOTION_NONE,
                           CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    row_sums<<<4, 128>>>(map, out, 100);
    return cudaDeviceSynchronize() != cudaSuccess;
}
