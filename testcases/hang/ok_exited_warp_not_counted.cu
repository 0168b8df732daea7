// Kernel:   three of four warps reverse a tile; the fourth leaves at once.
// Launch:   grid 16, block 128, static shared memory only
// Target:   sm_80
// Expected finding: none
// Line:     -
// Why:      the named barrier counts the 96 threads that reach it.
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
__device__ __forceinline__ void named_sync(int id, int threads) {
    asm volatile("bar.sync %0, %1;" ::"r"(id), "r"(threads) : "memory");
}

__global__ void three_warps(const float4* in, float4* out) {
    __shared__ alignas(16) float4 tile[96];
    const int t = threadIdx.x;
    const int base = blockIdx.x * 96;
    if (t >= 96) return;  // the last warp has nothing to do

    cp_async16(&tile[t], &in[base + t]);
    cp_async_commit();
    cp_async_wait<0>();
    named_sync(1, 96);
    out[base + t] = tile[95 - t];
}

int main() {
    float4 *in, *out;
    cudaMalloc(&in, 16 * 96 * sizeof(float4));
    cudaMalloc(&out, 16 * 96 * sizeof(float4));
    cudaMemset(in, 0, 16 * 96 * sizeof(float4));
    three_warps<<<16, 128>>>(in, out);
    return cudaDeviceSynchronize() != cudaSuccess;
}
