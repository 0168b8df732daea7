// Kernel:   64 loaders bring four tiles into four slots; 64 workers use them in order.
// Launch:   grid 16, block 128, static shared memory only
// Target:   sm_80
// Expected finding: none
// Line:     -
// Why:      each tile has a barrier of its own, which goes through a single phase.
#include <cstdint>
#include <cuda_runtime.h>

__device__ __forceinline__ uint32_t smem_addr(const void* p) {
    return static_cast<uint32_t>(__cvta_generic_to_shared(p));
}
__device__ __forceinline__ void cp_async16(void* dst, const void* src) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(smem_addr(dst)), "l"(src) : "memory");
}
__device__ __forceinline__ void mbar_init(uint64_t* bar, uint32_t count) {
    asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(smem_addr(bar)), "r"(count) : "memory");
}
__device__ __forceinline__ void arrive_when_copied(uint64_t* bar) {
    asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" ::"r"(smem_addr(bar)) : "memory");
}
__device__ __forceinline__ void mbar_wait(uint64_t* bar, uint32_t parity) {
    uint32_t done = 0;
    while (!done) {
        asm volatile("{ .reg .pred p; mbarrier.test_wait.parity.shared.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
                     : "=r"(done) : "r"(smem_addr(bar)), "r"(parity) : "memory");
    }
}

__global__ void four_tiles(const float4* in, float* out) {
    __shared__ alignas(16) float4 tile[4][64];
    __shared__ alignas(8) uint64_t full[4];
    const int t = threadIdx.x;
    if (t == 0) {
        for (int k = 0; k < 4; ++k) mbar_init(&full[k], 64);
    }
    __syncthreads();

    if (t < 64) {
        for (int k = 0; k < 4; ++k) {
            cp_async16(&tile[k][t], &in[(blockIdx.x * 4 + k) * 64 + t]);
            arrive_when_copied(&full[k]);
        }
    } else {
        float sum = 0.f;
        for (int k = 0; k < 4; ++k) {
            mbar_wait(&full[k], 0);
            sum += tile[k][127 - t].x;
        }
        out[blockIdx.x * 64 + t - 64] = sum;
    }
}

int main() {
    float4* in;
    float* out;
    cudaMalloc(&in, 16 * 256 * sizeof(float4));
    cudaMalloc(&out, 16 * 64 * sizeof(float));
    cudaMemset(in, 0, 16 * 256 * sizeof(float4));
    four_tiles<<<16, 128>>>(in, out);
    return cudaDeviceSynchronize() != cudaSuccess;
}
