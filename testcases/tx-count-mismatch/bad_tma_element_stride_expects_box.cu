// Kernel:   every other row of a 32x64 box is loaded through a tensor map with an element stride of 2.
// Launch:   grid 4, block 128, static shared memory only, box 32x64 float, element strides 1x2
// Target:   sm_90
// Expected finding: tx-count-mismatch
// Also acceptable: hang
// Line:     49
// Why:      the barrier expects the whole box, but with an element stride of 2 only every other row is copied.
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

constexpr int kRows = 64, kColumns = 32;

__global__ void every_other_row(const __grid_constant__ CUtensorMap map, float* out) {
    __shared__ alignas(128) float tile[kRows][kColumns];
    __shared__ alignas(8) uint64_t bar;
    const int t = threadIdx.x;
    if (t == 0) {
        mbar_init(&bar, 1);
        mbar_init_fence();
    }
    __syncthreads();
    if (t == 0) {
        mbar_arrive_expect_tx(&bar, kRows * kColumns * sizeof(float));  // BUG: tx-count-mismatch
        tma_load_2d(tile, &map, 0, blockIdx.x * kRows, &bar);
    }
    mbar_wait(&bar, 0);
    float sum = 0.f;
    for (int y = t / kColumns; y < kRows / 2; y += 4) sum += tile[y][t % kColumns];
    out[blockIdx.x * 128 + t] = sum;
}

int main() {
    float *in, *out;
    cudaMalloc(&in, kColumns * 256 * sizeof(float));
    cudaMalloc(&out, 4 * 128 * sizeof(float));
    CUtensorMap map;
    const cuuint64_t dims[2] = {kColumns, 256}, pitch[1] = {kColumns * sizeof(float)};
    const cuuint32_t box[2] = {kColumns, kRows}, steps[2] = {1, 2};
    cuTensorMapEncodeTiled(&map, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 2, in, dims, pitch, box, steps,
                           CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_L2_PROMOTION_NONE,
                           CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    every_other_row<<<4, 128>>>(map, out);
    return cudaDeviceSynchronize() != cudaSuccess;
}
