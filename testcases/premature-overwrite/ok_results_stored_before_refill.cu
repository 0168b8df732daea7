// Kernel:   a buffer takes a tile, the results computed from it and, after they have been stored, the next tile.
// Launch:   grid 8, block 256, static shared memory only, tiles = 5
// Target:   sm_90
// Expected finding: none
// Line:     -
// Why:      the thread that stored the results waits until the store has read them before it starts the next tile.
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

__global__ void in_place(const float* in, float* out, int tiles) {
    __shared__ alignas(128) float buffer[256];
    __shared__ alignas(8) uint64_t full;
    const int t = threadIdx.x;
    if (t == 0) {
        mbar_init(&full, 1);
        mbar_init_fence();
    }
    __syncthreads();
    for (int k = 0; k < tiles; ++k) {
        const int first = (blockIdx.x * tiles + k) * 256;
        if (t == 0) {
            bulk_wait_read<0>();
            mbar_arrive_expect_tx(&full, sizeof(buffer));
            bulk_load(buffer, in + first, sizeof(buffer), &full);
        }
        mbar_wait(&full, k & 1);
        const float v = buffer[255 - t];
        __syncthreads();
        buffer[t] = v * v;
        fence_async_proxy();
        __syncthreads();
        if (t == 0) {
            bulk_store(out + first, buffer, sizeof(buffer));
            bulk_commit();
        }
    }
    if (t == 0) bulk_wait_read<0>();
}

int main() {
    float *in, *out;
    cudaMalloc(&in, 8 * 5 * 256 * sizeof(float));
    cudaMalloc(&out, 8 * 5 * 256 * sizeof(float));
    cudaMemset(in, 0, 8 * 5 * 256 * sizeof(float));
    in_place<<<8, 256>>>(in, out, 5);
    return cudaDeviceSynchronize() != cudaSuccess;
}
