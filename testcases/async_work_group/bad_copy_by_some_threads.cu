// Kernel:   every thread brings in an element; only the first 213 threads of the grid take part.
// Launch:   grid 128, block 64, static shared memory only
// Target:   sm_80
// Expected finding: hang
// Also acceptable: arrival-count-mismatch
// Line:     45
// Why:      the barrier counts 64 arrivals; in block 3 only 21 threads copy and arrive, in later blocks none, and
//           all of them wait.
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
__device__ __forceinline__ void mbar_wait(uint64_t* bar, uint32_t parity) {
    uint32_t done = 0;
    while (!done) {
        asm volatile("{ .reg .pred p; mbarrier.test_wait.parity.shared.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
                     : "=r"(done) : "r"(smem_addr(bar)), "r"(parity) : "memory");
    }
}
// Arrives once the copies of this thread have landed; the arrival is one of those that the barrier counts.
__device__ __forceinline__ void arrive_when_copied(uint64_t* bar) {
    asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" ::"r"(smem_addr(bar)) : "memory");
}

__global__ void row(const float4* p, float4* q) {
    __shared__ alignas(16) float4 mine[64];
    __shared__ alignas(8) uint64_t event;
    const int t = threadIdx.x;
    const int g = 64 * blockIdx.x + t;
    if (t == 0) mbar_init(&event, 64);
    __syncthreads();

    if (g < 213) {
        cp_async16(&mine[t], &p[g]);
        arrive_when_copied(&event);
    }
    mbar_wait(&event, 0);  // BUG: hang

    q[g] = mine[63 - t];
}

int main() {
    float4 *p, *q;
    cudaMalloc(&p, 8192 * sizeof(float4));
    cudaMemset(p, 0, 8192 * sizeof(float4));
    cudaMalloc(&q, 8192 * sizeof(float4));
    cudaMemset(q, 0, 8192 * sizeof(float4));
    row<<<128, 64>>>(p, q);
    return cudaDeviceSynchronize() != cudaSuccess;
}
