// Kernel:   three-stage cp.async ring with two tiles prefetched; every thread sums an element copied by a thread of another
//           warp.
// Launch:   grid 16, block 128, static shared memory only, tiles = 12
// Target:   sm_80
// Audit:    wait_all in the loop waits for the tile after the next as well; wait_group 1 would do.
#include <cstdint>
#include <cuda_runtime.h>

constexpr int kStages = 3;

__device__ __forceinline__ uint32_t smem_addr(const void* p) {
    return static_cast<uint32_t>(__cvta_generic_to_shared(p));
}
__device__ __forceinline__ void cp_async16(void* dst, const void* src) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(smem_addr(dst)), "l"(src) : "memory");
}
__device__ __forceinline__ void cp_async_commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }

__global__ void ring_sum(const float4* in, float* out, int tiles) {
    __shared__ alignas(16) float4 ring[kStages][128];
    const int t = threadIdx.x;
    const float4* src = in + blockIdx.x * tiles * 128;

    for (int s = 0; s < kStages - 1; ++s) {
        if (s < tiles) cp_async16(&ring[s][t], &src[s * 128 + t]);  // BECOMES: cp.async.cg, 16 bytes
        cp_async_commit();
    }

    float sum = 0.f;
    for (int k = 0; k < tiles; ++k) {
        asm volatile("cp.async.wait_all;" ::: "memory");  // PERF: perf-over-wait
        __syncthreads();

        const int nxt = k + kStages - 1;
        if (nxt < tiles) cp_async16(&ring[nxt % kStages][t], &src[nxt * 128 + t]);  // BECOMES: cp.async.cg, 16 bytes
        cp_async_commit();

        const float4 v = ring[k % kStages][t ^ 32];
        sum += v.x + v.y + v.z + v.w;
    }
    out[blockIdx.x * 128 + t] = sum;
}

int main() {
    float4* in;
    float* out;
    cudaMalloc(&in, 16 * 12 * 128 * sizeof(float4));
    cudaMalloc(&out, 16 * 128 * sizeof(float));
    cudaMemset(in, 0, 16 * 12 * 128 * sizeof(float4));
    ring_sum<<<16, 128>>>(in, out, 12);
    return cudaDeviceSynchronize() != cudaSuccess;
}
