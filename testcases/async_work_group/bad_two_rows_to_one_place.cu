// Kernel:   two rows are copied in, doubled in place, and copied out, both to the same row.
// Launch:   grid 128, block 64, static shared memory only
// Target:   sm_90
// Expected finding: overlapping-copies
// Line:     55
// Why:      the two stores run at the same time: the row gets a mixture of both.
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

__global__ void row(float* p, float* q) {
    __shared__ alignas(128) float my_p[64], my_q[64];
    const int t = threadIdx.x;
    const int base = 64 * blockIdx.x;

    copy_row(my_p, p + base);
    copy_row(my_q, q + base);
    cp_async_commit();
    cp_async_wait<0>();
    __syncthreads();

    my_p[t] = 2 * my_p[t];
    my_q[t] = 2 * my_q[t];
    fence_async_proxy();
    __syncthreads();

    if (t == 0) {
        bulk_store(p + base, my_p, sizeof(my_p));
        bulk_store(p + base, my_q, sizeof(my_q));  // BUG: overlapping-copies
        bulk_commit();
        bulk_wait<0>();
    }
}

int main() {
    float *p, *q;
    cudaMalloc(&p, 8192 * sizeof(float));
    cudaMemset(p, 0, 8192 * sizeof(float));
    cudaMalloc(&q, 8192 * sizeof(float));
    cudaMemset(q, 0, 8192 * sizeof(float));
    row<<<128, 64>>>(p, q);
    return cudaDeviceSynchronize() != cudaSuccess;
}
