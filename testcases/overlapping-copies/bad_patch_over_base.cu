// Kernel:   a tile is staged and its last quarter is replaced from a second array.
// Launch:   grid 16, block 128, static shared memory only
// Target:   sm_80
// Expected finding: overlapping-copies
// Line:     29
// Why:      both copies write the same 16 bytes and nothing orders two copies of one thread: either of them can
//           land last.
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

__global__ void overlay(const float4* base, const float4* patch, float4* out) {
    __shared__ alignas(16) float4 tile[128];
    const int t = threadIdx.x;
    const int g = blockIdx.x * 128 + t;

    cp_async16(&tile[t], &base[g]);
    if (t >= 96) cp_async16(&tile[t], &patch[g]);  // BUG: overlapping-copies
    cp_async_commit();
    cp_async_wait<0>();
    __syncthreads();
    out[g] = tile[127 - t];
}

int main() {
    float4 *base, *patch, *out;
    cudaMalloc(&base, 16 * 128 * sizeof(float4));
    cudaMalloc(&patch, 16 * 128 * sizeof(float4));
    cudaMalloc(&out, 16 * 128 * sizeof(float4));
    cudaMemset(base, 0, 16 * 128 * sizeof(float4));
    cudaMemset(patch, 0, 16 * 128 * sizeof(float4));
    overlay<<<16, 128>>>(base, patch, out);
    return cudaDeviceSynchronize() != cudaSuccess;
}
