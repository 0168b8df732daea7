// Kernel:   a block walks over n elements in chunks of 64, with barriers around the use of each chunk.
// Launch:   grid 16, block 64, static shared memory only, n = 100
// Target:   sm_80
// Expected finding: divergent-protocol
// Also acceptable: hang, missing-barrier
// Line:     34
// Why:      36 elements remain for the second turn, so 4 lanes of the second warp meet the barriers again while
//           the other 28 have left the loop.
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

__global__ void chunked_sum(const float4* in, float* out, int n) {
    __shared__ alignas(16) float4 tile[64];
    const int t = threadIdx.x;
    const float4* src = in + blockIdx.x * n;
    float sum = 0.f;

    for (int i = t; i < n; i += 64) {
        cp_async16(&tile[t], &src[i]);
        cp_async_commit();
        cp_async_wait<0>();
        __syncthreads();  // BUG: divergent-protocol
        sum += tile[63 - t].x;
        __syncthreads();
    }
    out[blockIdx.x * 64 + t] = sum;
}

int main() {
    float4* in;
    float* out;
    cudaMalloc(&in, 16 * 100 * sizeof(float4));
    cudaMalloc(&out, 16 * 64 * sizeof(float));
    cudaMemset(in, 0, 16 * 100 * sizeof(float4));
    chunked_sum<<<16, 64>>>(in, out, 100);
    return cudaDeviceSynchronize() != cudaSuccess;
}
