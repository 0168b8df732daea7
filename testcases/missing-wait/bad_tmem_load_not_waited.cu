// Kernel:   one thread issues a tcgen05 multiplication of two tiles; four warps store the result from tensor
//           memory.
// Launch:   grid 4, block 128, static shared memory only
// Target:   sm_100a
// Expected finding: missing-wait
// Also acceptable: premature-overwrite, cluster-lifetime
// Line:     104
// Why:      tcgen05.ld is asynchronous: without tcgen05.wait::ld before the barrier the loads of the other warps
//           may still be going on when the tensor memory is freed.
#include <cstdint>
#include <cuda_runtime.h>

constexpr int kBytesA = 128 * 16 * 2, kBytesB = 16 * 16 * 2;  // bf16, as core matrices
constexpr uint32_t kShape = 1 << 4 | 1 << 7 | 1 << 10 | (16 / 8) << 17 | (128 / 16) << 24;  // m128n16, bf16 to f32

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

__device__ __forceinline__ void tmem_alloc(uint32_t* address) {
    asm volatile("tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%0], 32;" ::"r"(smem_addr(address)) : "memory");
    asm volatile("tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;" ::: "memory");
}
__device__ __forceinline__ void tmem_free(uint32_t tmem) {
    asm volatile("tcgen05.dealloc.cta_group::1.sync.aligned.b32 %0, 32;" ::"r"(tmem) : "memory");
}
__device__ __forceinline__ uint64_t mma_desc(const void* p, uint32_t lead_bytes, uint32_t stride_bytes) {
    return uint64_t((smem_addr(p) & 0x3ffff) >> 4) | uint64_t(lead_bytes >> 4) << 16 | uint64_t(stride_bytes >> 4) << 32 |
           uint64_t(1) << 46;
}
__device__ __forceinline__ void mma(uint32_t tmem, uint64_t a, uint64_t b, bool adds) {
    asm volatile("{ .reg .pred p; setp.ne.u32 p, %4, 0;\n"
                 "tcgen05.mma.cta_group::1.kind::f16 [%0], %1, %2, %3, p; }"
                 ::"r"(tmem), "l"(a), "l"(b), "r"(kShape), "r"(uint32_t(adds)) : "memory");
}
__device__ __forceinline__ void mma_commit(uint64_t* bar) {
    asm volatile("tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%0];"
                 ::"r"(smem_addr(bar)) : "memory");
}
__device__ __forceinline__ void before_thread_sync() { asm volatile("tcgen05.fence::before_thread_sync;" ::: "memory"); }
__device__ __forceinline__ void after_thread_sync() { asm volatile("tcgen05.fence::after_thread_sync;" ::: "memory"); }
__device__ __forceinline__ void tmem_load16(uint32_t tmem, uint32_t (&v)[16]) {
    asm volatile("tcgen05.ld.sync.aligned.32x32b.x16.b32 {%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15}, [%16];"
                 : "=r"(v[0]), "=r"(v[1]), "=r"(v[2]), "=r"(v[3]), "=r"(v[4]), "=r"(v[5]), "=r"(v[6]), "=r"(v[7]),
                   "=r"(v[8]), "=r"(v[9]), "=r"(v[10]), "=r"(v[11]), "=r"(v[12]), "=r"(v[13]), "=r"(v[14]), "=r"(v[15])
                 : "r"(tmem) : "memory");
}

__global__ void __launch_bounds__(128) product(const char* a, const char* b, float* out) {
    __shared__ alignas(128) char tile[kBytesA + kBytesB];
    __shared__ alignas(8) uint64_t full, done;
    __shared__ uint32_t tmem_address;
    const int warp = threadIdx.x / 32;
    if (threadIdx.x == 0) {
        mbar_init(&full, 1);
        mbar_init(&done, 1);
        mbar_init_fence();
    }
    if (warp == 0) tmem_alloc(&tmem_address);
    before_thread_sync();
    __syncthreads();
    after_thread_sync();
    const uint32_t tmem = tmem_address;

    if (threadIdx.x == 0) {
        mbar_arrive_expect_tx(&full, kBytesA + kBytesB);
        bulk_load(tile, a + blockIdx.x * kBytesA, kBytesA, &full);
        bulk_load(tile + kBytesA, b, kBytesB, &full);
        mbar_wait(&full, 0);
        mma(tmem, mma_desc(tile, 2048, 128), mma_desc(tile + kBytesA, 256, 128), false);
        mma_commit(&done);
    }
    __syncwarp();
    mbar_wait(&done, 0);
    after_thread_sync();
    uint32_t v[16];
    tmem_load16(tmem + (uint32_t(warp * 32) << 16), v);
    float* const row = out + (blockIdx.x * 128 + threadIdx.x) * 16;
    for (int i = 0; i < 16; ++i) row[i] = __uint_as_float(v[i]);
    before_thread_sync();
    __syncthreads();
    after_thread_sync();
    if (warp == 0) tmem_free(tmem);  // BUG: missing-wait
}

int main() {
    char* ab;
    float* out;
    cudaMalloc(&ab, 4 * kBytesA + kBytesB);
    cudaMalloc(&out, 4 * 128 * 16 * sizeof(float));
    product<<<4, 128>>>(ab, ab + 4 * kBytesA, out);
    return cudaDeviceSynchronize() != cudaSuccess;
}
