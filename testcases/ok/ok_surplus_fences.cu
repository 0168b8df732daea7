// Kernel:   every thread fences more than is needed: all of them publish the barriers, fence both proxies twice and
//           execute memory fences around block barriers.
// Launch:   grid 16, block 128, static shared memory only, tiles = 4
// Target:   sm_90
// Expected finding: none
// Line:     -
// Why:      a fence more than needed changes nothing.
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
__device__ __forceinline__ void bulk_store(void* dst, const void* src, uint32_t bytes) {
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;"
                 ::"l"(dst), "r"(smem_addr(src)), "r"(bytes) : "memory");
}
__device__ __forceinline__ void bulk_commit() { asm volatile("cp.async.bulk.commit_group;" ::: "memory"); }
template <int N>
__device__ __forceinline__ void bulk_wait_read() {
    asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(N) : "memory");
}
__device__ __forceinline__ void fence_async_proxy() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }
__device__ __forceinline__ void fence_async_proxy_all() { asm volatile("fence.proxy.async;" ::: "memory"); }

__global__ void careful(const float* in, float* out, int tiles) {
    __shared__ alignas(128) float tile[128];
    __shared__ alignas(8) uint64_t bar;
    const int t = threadIdx.x;
    if (t == 0) mbar_init(&bar, 1);
    mbar_init_fence();
    fence_async_proxy_all();
    __threadfence_block();
    __syncthreads();

    for (int k = 0; k < tiles; ++k) {
        const int first = (blockIdx.x * tiles + k) * 128;
        if (t == 0) {
            fence_async_proxy();
            mbar_arrive_expect_tx(&bar, sizeof(tile));
            bulk_load(tile, in + first, sizeof(tile), &bar);
        }
        mbar_wait(&bar, k & 1);
        fence_async_proxy();
        const float v = tile[127 - t];
        __threadfence();
        __syncthreads();
        tile[t] = 2.f * v;
        fence_async_proxy();
        __threadfence_block();
        __syncthreads();
        if (t == 0) {
            fence_async_proxy_all();
            bulk_store(out + first, tile, sizeof(tile));
            bulk_commit();
            bulk_wait_read<0>();
        }
    }
}

int main() {
    float *in, *out;
    cudaMalloc(&in, 16 * 4 * 128 * sizeof(float));
    cudaMalloc(&out, 16 * 4 * 128 * sizeof(float));
    cudaMemset(in, 0, 16 * 4 * 128 * sizeof(float));
    careful<<<16, 128>>>(in, out, 4);
    return cudaDeviceSynchronize() != cudaSuccess;
}
