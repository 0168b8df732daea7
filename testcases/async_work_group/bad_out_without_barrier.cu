// Kernel:   the row is copied in, doubled in place, and copied out with a bulk store.
// Launch:   grid 128, block 64, static shared memory only
// Target:   sm_90
// Expected finding: missing-barrier
// Line:     51
// Why:      the store starts while other threads may still have to double their element.
#include <cstdint>
#include <cuda_runtime.h>

__device__ __forceinline__ uint32_t smem_addr(const void* p) {
    return static_cast<uint32_t>(__cvta_generic_to_shared(p));
}
__device__ __forceinline__ void cp_async16(void* dst, const void* src) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(smem_addr(dst)), "l"(src) : "memory");
}
__device__ __forceinline__ void cp_async_commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int N>
__device__ __forceinline__ void cp_async_wait() {
    asm volatile("cp.async.wait_group %0;" ::"n"(N) : "memory");
}
// The first 16 threads bring in 64 floats, 16 bytes each.
__device__ __forceinline__ void copy_row(float* dst, const float* src) {
    const int t = threadIdx.x;
    if (t < 16) cp_async16(dst + 4 * t, src + 4 * t);
}
__device__ __forceinline__ void bulk_store(float* dst, const float* src, uint32_t bytes) {
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;"
                 ::"l"(dst), "r"(smem_addr(src)), "r"(bytes) : "memory");
}
__device__ __forceinline__ void bulk_commit() { asm volatile("cp.async.bulk.commit_group;" ::: "memory"); }
template <int N>
__device__ __forceinline__ void bulk_wait() {
    asm volatile("cp.async.bulk.wait_group %0;" ::"n"(N) : "memory");
}
__device__ __forceinline__ void fence_async_proxy() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }

__global__ void row(float* p) {
    __shared__ alignas(128) float mine[64];
    const int t = threadIdx.x;
    float* const own = p + 64 * blockIdx.x;

    copy_row(mine, own);
    cp_async_commit();
    cp_async_wait<0>();
    __syncthreads();

    mine[t] = 2 * mine[t];
    fence_async_proxy();

    if (t == 0) {
        bulk_store(own, mine, sizeof(mine));  // BUG: missing-barrier
        bulk_commit();
        bulk_wait<0>();
    }
}

int main() {
    float *p;
    cudaMalloc(&p, 8192 * sizeof(float));
    cudaMemset(p, 0, 8192 * sizeof(float));
    row<<<128, 64>>>(p);
    return cudaDeviceSynchronize() != cudaSuccess;
}
