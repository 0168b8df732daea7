// Kernel:   a bulk copy and cp.async copies are started early and completed late; block barriers for something else
//           lie in between.
// Launch:   grid 16, block 128, static shared memory only
// Target:   sm_90
// Expected finding: none
// Line:     -
// Why:      the tiles are read only after the wait of the threads that copied them and a barrier, or after the wait
//           on the mbarrier; barriers in between neither help nor harm.
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
__device__ __forceinline__ void cp_async16(void* dst, const void* src) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(smem_addr(dst)), "l"(src) : "memory");
}
__device__ __forceinline__ void cp_async_commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int N>
__device__ __forceinline__ void cp_async_wait() {
    asm volatile("cp.async.wait_group %0;" ::"n"(N) : "memory");
}
__device__ __forceinline__ void bulk_load(void* dst, const void* src, uint32_t bytes, uint64_t* bar) {
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
                 ::"r"(smem_addr(dst)), "l"(src), "r"(bytes), "r"(smem_addr(bar)) : "memory");
}

__global__ void early_start(const float* a, const float4* b, float* out) {
    __shared__ alignas(128) float tile_a[128];
    __shared__ alignas(16) float4 tile_b[128];
    __shared__ float partial[128];
    __shared__ alignas(8) uint64_t bar;
    const int t = threadIdx.x;
    if (t == 0) {
        mbar_init(&bar, 1);
        mbar_init_fence();
    }
    cp_async16(&tile_b[t], &b[blockIdx.x * 128 + t]);
    cp_async_commit();
    __syncthreads();
    if (t == 0) {
        mbar_arrive_expect_tx(&bar, sizeof(tile_a));
        bulk_load(tile_a, a + blockIdx.x * 128, sizeof(tile_a), &bar);
    }
    partial[t] = float(t * blockIdx.x);
    for (int half = 64; half > 0; half /= 2) {
        __syncthreads();
        if (t < half) partial[t] += partial[t + half];
    }
    cp_async_wait<0>();
    __syncthreads();
    mbar_wait(&bar, 0);
    out[blockIdx.x * 128 + t] = partial[0] + tile_a[127 - t] + tile_b[127 - t].x;
}

int main() {
    float* a;
    float4* b;
    float* out;
    cudaMalloc(&a, 16 * 128 * sizeof(float));
    cudaMalloc(&b, 16 * 128 * sizeof(float4));
    cudaMalloc(&out, 16 * 128 * sizeof(float));
    cudaMemset(a, 0, 16 * 128 * sizeof(float));
    early_start<<<16, 128>>>(a, b, out);
    return cudaDeviceSynchronize() != cudaSuccess;
}
