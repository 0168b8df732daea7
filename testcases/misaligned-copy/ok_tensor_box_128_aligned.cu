// Kernel:   a box of 32x16 floats is loaded through a tensor map into dynamic shared memory.
// Launch:   grid (4, 4), block 128, dynamic shared memory 2304 bytes, box 32x16 float
// Target:   sm_90
// Expected finding: none
// Line:     -
// Why:      the box lies at a multiple of 128 bytes.
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

constexpr int kTileAt = 128;

__global__ void box_sums(const __grid_constant__ CUtensorMap map, float* out) {
    extern __shared__ __align__(128) char smem[];
    uint64_t* bar = reinterpret_cast<uint64_t*>(smem);
    float* tile = reinterpret_cast<float*>(smem + kTileAt);
    const int t = threadIdx.x;
    if (t == 0) {
        mbar_init(bar, 1);
        mbar_init_fence();
    }
    __syncthreads();
    if (t == 0) {
        mbar_arrive_expect_tx(bar, 32 * 16 * sizeof(float));
        tma_load_2d(tile, &map, blockIdx.x * 32, blockIdx.y * 16, bar);
    }
    mbar_wait(bar, 0);
    float sum = 0.f;
    for (int i = t; i < 32 * 16; i += 128) sum += tile[i];
    out[(blockIdx.y * 4 + blockIdx.x) * 128 + t] = sum;
}

int main() {
    float *in, *out;
    cudaMalloc(&in, 128 * 64 * sizeof(float));
    cudaMalloc(&out, 16 * 128 * sizeof(float));
    CUtensorMap map;
    const cuuint64_t dims[2] = {128, 64}, pitch[1] = {128 * sizeof(float)};
    const cuuint32_t box[2] = {32, 16}, steps[2] = {1, 1};
    cuTensorMapEncodeTiled(&map, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 2, in, dims, pitch, box, steps,
                           CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_L2_PROMOTION_NONE,
                           CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    box_sums<<<dim3(4, 4), 128, 2304>>>(map, out);
    return cudaDeviceSynchronize() != cudaSuccess;
}
