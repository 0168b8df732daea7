// Kernel:   two rows, each a group of its own; both groups are waited for, and used without a barrier.
// Launch:   grid 128, block 64, static shared memory only
// Target:   sm_80
// Expected finding: missing-barrier
// Line:     38
// Why:      each thread waits for its own copies, and reads those of others.
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

__global__ void row(float* p, float* q) {
    __shared__ alignas(16) float my_p[64], my_q[64];
    float* const own_p = p + 64 * blockIdx.x;
    float* const own_q = q + 64 * blockIdx.x;

    copy_row(my_p, own_p);
    cp_async_commit();
    copy_row(my_q, own_q);
    cp_async_commit();
    cp_async_wait<0>();

    own_p[threadIdx.x] = 2 * my_p[threadIdx.x];  // BUG: missing-barrier
    own_q[threadIdx.x] = 2 * my_q[threadIdx.x];
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
