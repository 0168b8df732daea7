// Kernel:   four warps compute a tile; a fifth one stores it with a bulk copy.
// Launch:   grid 8, block 160, static shared memory only
// Target:   sm_90
// Expected finding: divergent-protocol
// Also acceptable: hang, arrival-count-mismatch
// Line:     46
// Why:      bar.sync is for whole warps; here the elected lane executes it without the others.
#include <cstdint>
#include <cuda_runtime.h>

__device__ __forceinline__ uint32_t smem_addr(const void* p) {
    return static_cast<uint32_t>(__cvta_generic_to_shared(p));
}
__device__ __forceinline__ bool elect_one() {
    uint32_t elected;
    asm volatile("{ .reg .pred p; elect.sync _|p, 0xffffffff; selp.u32 %0, 1, 0, p; }" : "=r"(elected)::"memory");
    return elected != 0;
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
__device__ __forceinline__ void bar_sync(int id, int threads) {
    asm volatile("bar.sync %0, %1;" ::"r"(id), "r"(threads) : "memory");
}
__device__ __forceinline__ void bar_arrive(int id, int threads) {
    asm volatile("bar.arrive %0, %1;" ::"r"(id), "r"(threads) : "memory");
}

__global__ void store_warp(const float* in, float* out) {
    __shared__ alignas(128) float tile[128];
    const int t = threadIdx.x;
    if (t < 128) {
        tile[t] = 2.f * in[blockIdx.x * 128 + t];
        fence_async_proxy();
        bar_arrive(1, 160);
        return;
    }
    if (elect_one()) {
        bar_sync(1, 160);  // BUG: divergent-protocol
        bulk_store(out + blockIdx.x * 128, tile, sizeof(tile));
        bulk_commit();
        bulk_wait_read<0>();
    }
}

int main() {
    float *in, *out;
    cudaMalloc(&in, 8 * 128 * sizeof(float));
    cudaMalloc(&out, 8 * 128 * sizeof(float));
    cudaMemset(in, 0, 8 * 128 * sizeof(float));
    store_warp<<<8, 160>>>(in, out);
    return cudaDeviceSynchronize() != cudaSuccess;
}
