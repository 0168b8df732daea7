// Kernel:   a short tile is staged by a full block: the threads past its end repeat the last element.
// Launch:   grid 16, block 128, static shared memory only, n = 100
// Target:   sm_80
// Expected finding: none
// Line:     -
// Why:      several threads copy the same source to the same destination; whichever lands last, the bytes are
//           the same.
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

__global__ void short_tile(const float4* in, float4* out, int n) {
    __shared__ alignas(16) float4 tile[128];
    const int t = threadIdx.x;
    const int c = min(t, n - 1);

    cp_async16(&tile[c], &in[blockIdx.x * n + c]);
    cp_async_commit();
    cp_async_wait<0>();
    __syncthreads();
    if (t < n) out[blockIdx.x * n + t] = tile[n - 1 - t];
}

int main() {
    float4 *in, *out;
    cudaMalloc(&in, 16 * 100 * sizeof(float4));
    cudaMalloc(&out, 16 * 100 * sizeof(float4));
    cudaMemset(in, 0, 16 * 100 * sizeof(float4));
    short_tile<<<16, 128>>>(in, out, 100);
    return cudaDeviceSynchronize() != cudaSuccess;
}
