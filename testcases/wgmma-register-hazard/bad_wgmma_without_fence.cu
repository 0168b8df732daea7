// Kernel:   a bf16 matrix product: a producer warp loads 64x64 boxes of A and B with 128-byte swizzle, one
//           warpgroup multiplies them with four wgmma m64n64k16 a step.
// Launch:   grid (2, 2), block 256, static shared memory only, boxes 64x64 bf16
// Target:   sm_90a
// Expected finding: wgmma-register-hazard
// Line:     111
// Why:      the accumulators are set to zero by ordinary instructions, and no wgmma.fence orders those registers
//           before the first multiplication.
#include <cstdint>
#include <cuda.h>
#include <cuda_bf16.h>
#include <cuda_runtime.h>

constexpr int kStages = 2, kSteps = 8;
constexpr int kTile = 64;  // rows, columns and depth of a step; a row of 64 bf16 is 128 bytes

__device__ __forceinline__ uint32_t smem_addr(const void* p) {
    return static_cast<uint32_t>(__cvta_generic_to_shared(p));
}
__device__ __forceinline__ bool elect_one() {
    uint32_t elected;
    asm volatile("{ .reg .pred p; elect.sync _|p, 0xffffffff; selp.u32 %0, 1, 0, p; }" : "=r"(elected)::"memory");
    return elected != 0;
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
__device__ __forceinline__ void tma_load_2d(void* dst, const CUtensorMap* map, int x, int y, uint64_t* bar) {
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];"
                 ::"r"(smem_addr(dst)), "l"(map), "r"(x), "r"(y), "r"(smem_addr(bar)) : "memory");
}
__device__ __forceinline__ uint64_t matrix_desc_sw128(const void* p) {  // K-major rows of 128 bytes, groups of 8 rows
    return uint64_t((smem_addr(p) & 0x3ffff) >> 4) | uint64_t(1) << 16 | uint64_t(1024 >> 4) << 32 | uint64_t(1) << 62;
}
__device__ __forceinline__ void wgmma_commit() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
template <int N>
__device__ __forceinline__ void wgmma_wait() {
    asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(N) : "memory");
}
__device__ __forceinline__ void wgmma_m64n64k16(float (&d)[32], uint64_t a, uint64_t b) {
    asm volatile("{ .reg .pred p; setp.eq.u32 p, 1, 1;\n"
                 "wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 {%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,"
                 "%15,%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%30,%31}, %32, %33, p, 1, 1, 0, 0; }"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]),
                   "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]),
                   "+f"(d[15]), "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]), "+f"(d[21]),
                   "+f"(d[22]), "+f"(d[23]), "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27]), "+f"(d[28]),
                   "+f"(d[29]), "+f"(d[30]), "+f"(d[31])
                 : "l"(a), "l"(b) : "memory");
}
template <int N>
__device__ __forceinline__ void lower_registers() {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(N) : "memory");
}
template <int N>
__device__ __forceinline__ void raise_registers() {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(N) : "memory");
}

__global__ void __launch_bounds__(256, 1) gemm_tile(const __grid_constant__ CUtensorMap map_a,
                                                    const __grid_constant__ CUtensorMap map_b, float* out) {
    __shared__ alignas(1024) __nv_bfloat16 a[kStages][kTile * kTile];
    __shared__ alignas(1024) __nv_bfloat16 b[kStages][kTile * kTile];
    __shared__ alignas(8) uint64_t full[kStages], empty[kStages];
    const int warp = threadIdx.x / 32;
    if (threadIdx.x == 0) {
        for (int s = 0; s < kStages; ++s) {
            mbar_init(&full[s], 1);
            mbar_init(&empty[s], 4);
        }
        mbar_init_fence();
    }
    __syncthreads();

    if (warp >= 4) {  // producer warpgroup
        lower_registers<40>();
        if (warp == 4 && elect_one()) {
            for (int k = 0; k < kSteps; ++k) {
                const int s = k % kStages;
                mbar_wait(&empty[s], ((k / kStages) & 1) ^ 1);
                mbar_arrive_expect_tx(&full[s], sizeof(a[0]) + sizeof(b[0]));
                tma_load_2d(a[s], &map_a, k * kTile, blockIdx.x * kTile, &full[s]);
                tma_load_2d(b[s], &map_b, k * kTile, blockIdx.y * kTile, &full[s]);
            }
        }
        return;
    }
    raise_registers<232>();
    float d[32] = {};
    for (int k = 0; k < kSteps; ++k) {
        const int s = k % kStages;
        mbar_wait(&full[s], (k / kStages) & 1);
        for (int i = 0; i < kTile; i += 16) {  // 16 bf16, 32 bytes, of each row a time
            wgmma_m64n64k16(d, matrix_desc_sw128(&a[s][i]), matrix_desc_sw128(&b[s][i]));  // BUG: wgmma-register-hazard
        }
        wgmma_commit();
        wgmma_wait<0>();
        if (threadIdx.x % 32 == 0) mbar_arrive(&empty[s]);
    }
    // The accumulator of a thread: two neighbouring columns of rows r and r + 8, every eight columns.
    const int row = blockIdx.x * kTile + warp * 16 + threadIdx.x % 32 / 4, col = blockIdx.y * kTile + threadIdx.x % 4 * 2;
    for (int i = 0; i < 32; ++i) {
        out[(row + i / 2 % 2 * 8) * 128 + col + i / 4 * 8 + i % 2] = d[i];
    }
}

int main() {
    __nv_bfloat16 *a, *b;
    float* out;
    cudaMalloc(&a, 128 * kSteps * kTile * sizeof(__nv_bfloat16));
    cudaMalloc(&b, 128 * kSteps * kTile * sizeof(__nv_bfloat16));
    cudaMalloc(&out, 128 * 128 * sizeof(float));
    CUtensorMap map_a, map_b;
    const cuuint64_t dims[2] = {kSteps * kTile, 128}, pitch[1] = {kSteps * kTile * sizeof(__nv_bfloat16)};
    const cuuint32_t box[2] = {kTile, kTile}, steps[2] = {1, 1};
    cuTensorMapEncodeTiled(&map_a, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 2, a, dims, pitch, box, steps,
                           CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B, CU_TENSOR_MAP_L2_PROMOTION_NONE,
                           CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    cuTensorMapEncodeTiled(&map_b, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 2, b, dims, pitch, box, steps,
                           CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B, CU_TENSOR_MAP_L2_PROMOTION_NONE,
                           CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    gemm_tile<<<dim3(2, 2), 256>>>(map_a, map_b, out);
    return cudaDeviceSynchronize() != cudaSuccess;
}
