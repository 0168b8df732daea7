// Kernel:   the block copies its row into shared memory, waits for it, and writes the doubled row back.
// Launch:   grid 128, block 64, static shared memory only
// Target:   sm_80
// Expected finding: none
// Line:     -
// Why:      each copying thread waits for its own group, the barrier behind it passes that on to the block.
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

__global__ void row(float* p) {
    __shared__ alignas(16) float mine[64];
    float* const own = p + 64 * blockIdx.x;

    copy_row(mine, own);
    cp_async_commit();

    cp_async_wait<0>();
    __syncthreads();

    own[threadIdx.x] = 2 * mine[threadIdx.x];
}

int main() {
    float *p;
    cudaMalloc(&p, 8192 * sizeof(float));
    cudaMemset(p, 0, 8192 * sizeof(float));
    row<<<128, 64>>>(p);
    return cudaDeviceSynchronize() != cudaSuccess;
}
