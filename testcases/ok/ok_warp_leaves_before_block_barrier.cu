// Kernel:   three warps stage a tile and reverse it; the fourth has nothing to do and leaves before the block
//           barrier.
// Launch:   grid 16, block 128, static shared memory only
// Target:   sm_80
// Expected finding: none
// Line:     -
// Why:      a barrier for the whole block does not wait for threads that have left.
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

__global__ void reverse96(const float4* in, float4* out) {
    __shared__ alignas(16) float4 tile[96];
    const int t = threadIdx.x;
    if (t >= 96) return;
    cp_async16(&tile[t], &in[blockIdx.x * 96 + t]);
    cp_async_commit();
    cp_async_wait<0>();
    __syncthreads();
    out[blockIdx.x * 96 + t] = tile[95 - t];
}

int main() {
    float4 *in, *out;
    cudaMalloc(&in, 16 * 96 * sizeof(float4));
    cudaMalloc(&out, 16 * 96 * sizeof(float4));
    cudaMemset(in, 0, 16 * 96 * sizeof(float4));
    reverse96<<<16, 128>>>(in, out);
    return cudaDeviceSynchronize() != cudaSuccess;
}
