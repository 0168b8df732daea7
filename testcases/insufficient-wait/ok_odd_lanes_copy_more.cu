// Kernel:   odd threads copy a second row; all threads commit a second group and wait until one is pending.
// Launch:   grid 1, block 64, static shared memory only
// Target:   sm_80
// Expected finding: none
// Line:     -
// Why:      the second group of the even threads is empty, so the same wait covers the first row of every
//           thread.
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

__global__ void kernel(const float4* in, float4* out) {
    __shared__ alignas(16) float4 tile[2][64];
    const int t = threadIdx.x;
    cp_async16(&tile[0][t], &in[t]);
    cp_async_commit();
    if (t % 2) cp_async16(&tile[1][t], &in[64 + t]);
    cp_async_commit();
    cp_async_wait<1>();
    __syncthreads();
    out[t] = tile[0][63 - t];
    cp_async_wait<0>();
}

int main() {
    float4 *in, *out;
    cudaMalloc(&in, 1 << 20);
    cudaMalloc(&out, 1 << 20);
    kernel<<<1, 64, 0>>>(in, out);
    return cudaDeviceSynchronize() != cudaSuccess;
}
