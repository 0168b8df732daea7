// Kernel:   each thread asks for the whole row, from a source that depends on the thread.
// Launch:   grid 128, block 64, static shared memory only
// Target:   sm_80
// Expected finding: overlapping-copies
// Line:     26
// Why:      the threads copy different rows into the same bytes, with nothing between.
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

__global__ void row(const float* p, float* q) {
    __shared__ alignas(16) float mine[64];
    const int t = threadIdx.x;

    for (int i = 0; i < 64; i += 4) cp_async16(mine + i, p + 64 * t + i);  // BUG: overlapping-copies
    cp_async_commit();
    cp_async_wait<0>();
    __syncthreads();

    q[64 * blockIdx.x + t] = mine[t];
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
