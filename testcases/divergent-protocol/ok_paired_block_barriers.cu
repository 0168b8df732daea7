// Kernel:   a loader warp and three others meet twice at the block barrier.
// Launch:   grid 8, block 128, static shared memory only
// Target:   sm_80
// Expected finding: none
// Line:     -
// Why:      the readers pass both barriers before they read, so the second one hands the tile over.
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

__global__ void crossed(const float4* in, float* out) {
    __shared__ alignas(16) float4 tile[96];
    const int t = threadIdx.x;
    if (t < 32) {
        for (int i = t; i < 96; i += 32) cp_async16(&tile[i], &in[blockIdx.x * 96 + i]);
        cp_async_commit();
        __syncthreads();  // the copies are on their way
        cp_async_wait<0>();
        __syncthreads();  // the tile is complete
    } else {
        __syncthreads();
        __syncthreads();  // the tile is complete
        out[blockIdx.x * 96 + t - 32] = tile[127 - t].x;
    }
}

int main() {
    float4* in;
    float* out;
    cudaMalloc(&in, 8 * 96 * sizeof(float4));
    cudaMalloc(&out, 8 * 96 * sizeof(float));
    cudaMemset(in, 0, 8 * 96 * sizeof(float4));
    crossed<<<8, 128>>>(in, out);
    return cudaDeviceSynchronize() != cudaSuccess;
}
