// Kernel:   a block of one warpgroup multiplies two tiles.
// Launch:   grid 4, block 128, static shared memory only
// Target:   sm_90a
// Expected finding: none
// Line:     -
// Why:      all four warps execute the multiplication; only the stores depend on the number of rows.
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
__device__ __forceinline__ uint64_t matrix_desc(const void* p, uint32_t lead_bytes, uint32_t stride_bytes) {
    return uint64_t((smem_addr(p) & 0x3ffff) >> 4) | uint64_t(lead_bytes >> 4) << 16 | uint64_t(stride_bytes >> 4) << 32;
}
__device__ __forceinline__ void wgmma_fence() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
__device__ __forceinline__ void wgmma_commit() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
template <int N>
__device__ __forceinline__ void wgmma_wait() {
    asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(N) : "memory");
}
__device__ __forceinline__ void wgmma_m64n8k16(float (&d)[4], uint64_t a, uint64_t b) {
    asm volatile("{ .reg .pred p; setp.eq.u32 p, 1, 1;\n"
                 "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%0,%1,%2,%3}, %4, %5, p, 1, 1, 0, 0; }"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "l"(a), "l"(b) : "memory");
}

constexpr int kBytesA = 2048, kBytesB = 256;

__global__ void __launch_bounds__(128) product(const char* a, const char* b, float* out, int rows) {
    __shared__ alignas(128) char tile[kBytesA + kBytesB];
    __shared__ alignas(8) uint64_t full;
    const int t = threadIdx.x;
    if (t == 0) {
        mbar_init(&full, 1);
        mbar_init_fence();
        mbar_arrive_expect_tx(&full, sizeof(tile));
        bulk_load(tile, a + blockIdx.x * kBytesA, kBytesA, &full);
        bulk_load(tile + kBytesA, b, kBytesB, &full);
    }
    __syncthreads();
    mbar_wait(&full, 0);
    float d[4] = {0.f, 0.f, 0.f, 0.f};
    wgmma_fence();
    wgmma_m64n8k16(d, matrix_desc(tile, 1024, 128), matrix_desc(tile + kBytesA, 128, 128));
    wgmma_commit();
    wgmma_wait<0>();
    if (t / 32 * 16 < rows) {
        for (int i = 0; i < 4; ++i) out[(blockIdx.x * 128 + t) * 4 + i] = d[i];
    }
}

int main() {
    char* ab;
    float* out;
    cudaMalloc(&ab, 4 * kBytesA + kBytesB);
    cudaMalloc(&out, 4 * 128 * 4 * sizeof(float));
    product<<<4, 128>>>(ab, ab + 4 * kBytesA, out, 32);
    return cudaDeviceSynchronize() != cudaSuccess;
}
