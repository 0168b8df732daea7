// Kernel:   1024 elements are copied in; a barrier stands before the use, the wait behind it.
// Launch:   grid 1, block 1024, static shared memory only
// Target:   sm_80
// Expected finding: barrier-only-handoff
// Line:     30
// Why:      a barrier says nothing about copies in flight.
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
    __shared__ alignas(16) float mine[1024];
    const int t = threadIdx.x;

    if (t < 256) cp_async16(mine + 4 * t, p + 4 * t);
    cp_async_commit();
    __syncthreads();

    q[t] = mine[t];  // BUG: barrier-only-handoff
    cp_async_wait<0>();
}

int main() {
    float *p, *q;
    cudaMalloc(&p, 1024 * sizeof(float));
    cudaMemset(p, 0, 1024 * sizeof(float));
    cudaMalloc(&q, 1024 * sizeof(float));
    cudaMemset(q, 0, 1024 * sizeof(float));
    row<<<1, 1024>>>(p, q);
    return cudaDeviceSynchronize() != cudaSuccess;
}
