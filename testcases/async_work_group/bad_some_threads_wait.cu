// Kernel:   two rows are tracked by one barrier, at which the threads from 14 on wait.
// Launch:   grid 128, block 64, static shared memory only
// Target:   sm_80
// Expected finding: missing-wait
// Also acceptable: missing-barrier
// Line:     50
// Why:      threads 0 to 13 read rows that nobody has told them to be complete.
#include <cstdint>
#include <cuda_runtime.h>

__device__ __forceinline__ uint32_t smem_addr(const void* p) {
    return static_cast<uint32_t>(__cvta_generic_to_shared(p));
}
__device__ __forceinline__ void cp_async16(void* dst, const void* src) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(smem_addr(dst)), "l"(src) : "memory");
}
// The first 16 threads bring in 64 floats, 16 bytes each.
__device__ __forceinline__ void copy_row(float* dst, const float* src) {
    const int t = threadIdx.x;
    if (t < 16) cp_async16(dst + 4 * t, src + 4 * t);
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

__global__ void row(float* p, float* q) {
    __shared__ alignas(16) float my_p[64], my_q[64];
    __shared__ alignas(8) uint64_t event;
    const int t = threadIdx.x;
    const int base = 64 * blockIdx.x;
    if (t == 0) mbar_init(&event, 64);
    __syncthreads();

    copy_row(my_p, p + base);
    copy_row(my_q, q + base);
    arrive_when_copied(&event);
    if (t > 13) mbar_wait(&event, 0);

    p[base + t] = my_p[t] + my_q[t];  // BUG: missing-wait
}

int main() {
    float *p, *q;
    cudaMalloc(&p, 8192 * sizeof(float));
    cudaMemset(p, 0, 8192 * sizeof(float));
    cudaMalloc(&q, 8192 * sizeof(float));
    cudaMemset(q, 0, 8192 * sizeof(float));
    row<<<128, 64>>>(p, q);
    return cudaDeviceSynchronize() != cudaSuccess;
}
