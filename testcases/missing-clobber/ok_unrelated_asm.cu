// Kernel:   an asm statement that takes no part in the hand-over has no clobber and needs none.
// Launch:   grid 16, block 128, static shared memory only
// Target:   sm_80
// Expected finding: none
// Line:     -
// Why:      reading a special register orders nothing, so nothing can be moved across it to any harm.
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

__device__ __forceinline__ unsigned lane_id() {
    unsigned lane;
    asm("mov.u32 %0, %%laneid;" : "=r"(lane));
    return lane;
}

__global__ void mirror_warps(const float4* in, float4* out) {
    __shared__ alignas(16) float4 tile[128];
    const int t = threadIdx.x;
    const int base = blockIdx.x * 128;

    cp_async16(&tile[t], &in[base + t]);
    cp_async_commit();
    cp_async_wait<0>();
    __syncthreads();
    out[base + t] = tile[(t & ~31) + 31 - lane_id()];
}

int main() {
    float4 *in, *out;
    cudaMalloc(&in, 16 * 128 * sizeof(float4));
    cudaMalloc(&out, 16 * 128 * sizeof(float4));
    cudaMemset(in, 0, 16 * 128 * sizeof(float4));
    mirror_warps<<<16, 128>>>(in, out);
    return cudaDeviceSynchronize() != cudaSuccess;
}
