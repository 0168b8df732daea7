// Kernel:   a double buffer that prefetches only tiles that exist.
// Launch:   grid 16, block 128, static shared memory only, tiles = 6
// Target:   sm_80
// Expected finding: none
// Line:     -
// Why:      the last turn commits an empty group, so wait_group 1 retires the last tile and nothing is in flight
//           at the end.
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

__global__ void tile_max(const float4* in, float* out, int tiles) {
    __shared__ alignas(16) float4 buf[2][128];
    const int t = threadIdx.x;
    const float4* src = in + blockIdx.x * tiles * 128;
    float best = -1e30f;

    cp_async16(&buf[0][t], &src[t]);
    cp_async_commit();
    for (int k = 0; k < tiles; ++k) {
        if (k + 1 < tiles) cp_async16(&buf[(k + 1) & 1][t], &src[(k + 1) * 128 + t]);
        cp_async_commit();
        cp_async_wait<1>();
        __syncthreads();
        best = fmaxf(best, buf[k & 1][127 - t].x);
        __syncthreads();
    }
    out[blockIdx.x * 128 + t] = best;
}

int main() {
    float4* in;
    float* out;
    cudaMalloc(&in, 16 * 6 * 128 * sizeof(float4));
    cudaMalloc(&out, 16 * 128 * sizeof(float));
    cudaMemset(in, 0, 16 * 6 * 128 * sizeof(float4));
    tile_max<<<16, 128>>>(in, out, 6);
    return cudaDeviceSynchronize() != cudaSuccess;
}
