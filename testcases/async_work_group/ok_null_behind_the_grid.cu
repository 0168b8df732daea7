// Kernel:   blocks from 128 on would have no source; the grid has 128 blocks.
// Launch:   grid 128, block 64, static shared memory only
// Target:   sm_80
// Expected finding: none
// Line:     -
// Why:      the side with the null pointer is never taken.
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
// Thread t brings in element t + 1, so that nobody uses what it copied itself.
__device__ __forceinline__ void copy_row(float4* dst, const float4* src) {
    const int next = (threadIdx.x + 1) % 64;
    cp_async16(dst + next, src + next);
}

__global__ void row(float4* p) {
    __shared__ alignas(16) float4 mine[64];
    float4* const from = blockIdx.x < 128 ? p : nullptr;
    float4* const own = from + 64 * blockIdx.x;

    copy_row(mine, own);
    cp_async_commit();
    cp_async_wait<0>();
    __syncthreads();

    own[threadIdx.x].x = 2 * mine[threadIdx.x].x;
}

int main() {
    float4 *p;
    cudaMalloc(&p, 8192 * sizeof(float4));
    cudaMemset(p, 0, 8192 * sizeof(float4));
    row<<<128, 64>>>(p);
    return cudaDeviceSynchronize() != cudaSuccess;
}
