// Kernel:   the same row is copied into two buffers, once in pieces of 16 and once of 4 bytes; meanwhile the block
//           stores to the upper half of both.
// Launch:   grid 128, block 64, static shared memory only
// Target:   sm_80
// Expected finding: none
// Line:     -
// Why:      the stores and the copies in flight have no byte in common.
#include <cstdint>
#include <cuda_runtime.h>

__device__ __forceinline__ uint32_t smem_addr(const void* p) {
    return static_cast<uint32_t>(__cvta_generic_to_shared(p));
}
__device__ __forceinline__ void cp_async16(void* dst, const void* src) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(smem_addr(dst)), "l"(src) : "memory");
}
__device__ __forceinline__ void cp_async4(void* dst, const void* src) {
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(smem_addr(dst)), "l"(src) : "memory");
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
    __shared__ alignas(16) float mine[128], mine_again[128];
    const int t = threadIdx.x;
    float* const own = p + 64 * blockIdx.x;

    copy_row(mine, own);
    cp_async4(mine_again + 63 - t, own + 63 - t);
    cp_async_commit();

    mine[64 + t] = blockIdx.x;
    mine_again[64 + t] = t;

    cp_async_wait<0>();
    __syncthreads();

    own[t] = mine[t] + mine_again[t] + mine[127 - t] + mine_again[127 - t];
}

int main() {
    float *p;
    cudaMalloc(&p, 8192 * sizeof(float));
    cudaMemset(p, 0, 8192 * sizeof(float));
    row<<<128, 64>>>(p);
    return cudaDeviceSynchronize() != cudaSuccess;
}
