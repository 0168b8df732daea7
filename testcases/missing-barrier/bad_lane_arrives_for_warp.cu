// Kernel:   a warp writes a row; one lane arrives on the mbarrier on behalf of the warp; a second warp waits and
//           reads.
// Launch:   grid 8, block 64, static shared memory only
// Target:   sm_90
// Expected finding: missing-barrier
// Line:     45
// Why:      the arrival publishes the store of the elected lane only: elect.sync orders no memory, and the warp
//           does not meet in between.
#include <cstdint>
#include <cuda_runtime.h>

__device__ __forceinline__ uint32_t smem_addr(const void* p) {
    return static_cast<uint32_t>(__cvta_generic_to_shared(p));
}
__device__ __forceinline__ bool elect_one() {
    uint32_t elected;
    asm volatile("{ .reg .pred p; elect.sync _|p, 0xffffffff; selp.u32 %0, 1, 0, p; }" : "=r"(elected)::"memory");
    return elected != 0;
}
__device__ __forceinline__ void mbar_init(uint64_t* bar, uint32_t count) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(smem_addr(bar)), "r"(count) : "memory");
}
__device__ __forceinline__ void mbar_arrive(uint64_t* bar) {
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(smem_addr(bar)) : "memory");
}
__device__ __forceinline__ void mbar_wait(uint64_t* bar, uint32_t parity) {
    uint32_t done = 0;
    while (!done) {
        asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
                     : "=r"(done) : "r"(smem_addr(bar)), "r"(parity) : "memory");
    }
}

__global__ void warp_to_warp(const float* in, float* out) {
    __shared__ float row[32];
    __shared__ alignas(8) uint64_t written;
    const int t = threadIdx.x;
    if (t == 0) mbar_init(&written, 1);
    __syncthreads();
    if (t < 32) {
        row[t] = 2.f * in[blockIdx.x * 32 + t];
        if (elect_one()) mbar_arrive(&written);
    } else {
        mbar_wait(&written, 0);
        out[blockIdx.x * 32 + t - 32] = row[63 - t];  // BUG: missing-barrier
    }
}

int main() {
    float *in, *out;
    cudaMalloc(&in, 8 * 32 * sizeof(float));
    cudaMalloc(&out, 8 * 32 * sizeof(float));
    cudaMemset(in, 0, 8 * 32 * sizeof(float));
    warp_to_warp<<<8, 64>>>(in, out);
    return cudaDeviceSynchronize() != cudaSuccess;
}
