// Kernel:   one mbarrier collects the copies of one tile after the other.
// Launch:   grid 16, block 128, static shared memory only, tiles = 6
// Target:   sm_80
// Expected finding: none
// Line:     -
// Why:      the wait of tile k asks for phase k; the block barrier keeps every thread within one phase.
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

__global__ void reverse_tiles(const float4* in, float4* out, int tiles) {
    __shared__ alignas(16) float4 tile[128];
    __shared__ alignas(8) uint64_t full;
    const int t = threadIdx.x;
    const int base = blockIdx.x * tiles * 128;

    if (t == 0) mbar_init(&full, 128);
    __syncthreads();
    for (int k = 0; k < tiles; ++k) {
        cp_async16(&tile[t], &in[base + k * 128 + t]);
        arrive_when_copied(&full);
        mbar_wait(&full, k & 1);
        out[base + k * 128 + t] = tile[127 - t];
        __syncthreads();  // the tile may be filled again
    }
}

int main() {
    float4 *in, *out;
    cudaMalloc(&in, 16 * 6 * 128 * sizeof(float4));
    cudaMalloc(&out, 16 * 6 * 128 * sizeof(float4));
    cudaMemset(in, 0, 16 * 6 * 128 * sizeof(float4));
    reverse_tiles<<<16, 128>>>(in, out, 6);
    return cudaDeviceSynchronize() != cudaSuccess;
}
