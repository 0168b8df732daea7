// Kernel:   two halves of a block stage a row each and read the row of the other half.
// Launch:   grid 8, block 128, static shared memory only
// Target:   sm_80
// Expected finding: none
// Line:     -
// Why:      both halves synchronise, so each has the row of the other.
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
__device__ __forceinline__ void bar_sync(int id, int threads) {
    asm volatile("bar.sync %0, %1;" ::"r"(id), "r"(threads) : "memory");
}

__global__ void swap_halves(const float4* in, float4* out) {
    __shared__ alignas(16) float4 row[2][64];
    const int half = threadIdx.x / 64, t = threadIdx.x % 64;
    cp_async16(&row[half][t], &in[blockIdx.x * 128 + threadIdx.x]);
    cp_async_commit();
    cp_async_wait<0>();
    bar_sync(1, 128);
    out[blockIdx.x * 128 + threadIdx.x] = row[half ^ 1][63 - t];
}

int main() {
    float4 *in, *out;
    cudaMalloc(&in, 8 * 128 * sizeof(float4));
    cudaMalloc(&out, 8 * 128 * sizeof(float4));
    cudaMemset(in, 0, 8 * 128 * sizeof(float4));
    swap_halves<<<8, 128>>>(in, out);
    return cudaDeviceSynchronize() != cudaSuccess;
}
