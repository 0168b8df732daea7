// Kernel:   blocks sum the columns of a matrix box by box; the tensor map is made in another file, and a comment
//           says what its box is.
// Launch:   grid 4, block 160, static shared memory only, boxes = 6, box 64x128 bf16
// Target:   sm_90
// Expected finding: tx-count-mismatch
// Also acceptable: hang
// Line:     58
// Why:      the barrier expects 64 rows of 64 bf16 and the box has 128 rows of them.
#include <cstdint>
#include <cuda.h>
#include <cuda_bf16.h>
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
__device__ __forceinline__ void tma_load_2d(void* dst, const CUtensorMap* map, int x, int y, uint64_t* bar) {
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];"
                 ::"r"(smem_addr(dst)), "l"(map), "r"(x), "r"(y), "r"(smem_addr(bar)) : "memory");
}
__device__ __forceinline__ void fence_async_proxy() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }

// handoff: tensormap map box=64x128xbf16
__global__ void __launch_bounds__(160) column_sums(const __grid_constant__ CUtensorMap map, float* out, int boxes) {
    __shared__ alignas(128) __nv_bfloat16 tile[128][64];
    __shared__ alignas(8) uint64_t full, empty;
    if (threadIdx.x == 0) {
        mbar_init(&full, 1);
        mbar_init(&empty, 128);
        mbar_init_fence();
    }
    __syncthreads();

    if (threadIdx.x >= 128) {
        if (threadIdx.x == 128) {
            for (int k = 0; k < boxes; ++k) {
                mbar_wait(&empty, (k & 1) ^ 1);
                mbar_arrive_expect_tx(&full, 64 * 64 * sizeof(__nv_bfloat16));  // BUG: tx-count-mismatch
                tma_load_2d(tile, &map, blockIdx.x * 64, k * 128, &full);
            }
        }
        return;
    }
    float sum = 0.f;
    for (int k = 0; k < boxes; ++k) {
        mbar_wait(&full, k & 1);
        for (int y = 0; y < 64; ++y) sum += __bfloat162float(tile[y + threadIdx.x / 64 * 64][threadIdx.x % 64]);
        fence_async_proxy();
        mbar_arrive(&empty);
    }
    out[blockIdx.x * 128 + threadIdx.x] = sum;
}

// The map comes from elsewhere: 256 columns by 768 rows of bf16, boxes of 64 columns by 128 rows.
void launch(const CUtensorMap& map, float* out) { column_sums<<<4, 160>>>(map, out, 6); }
