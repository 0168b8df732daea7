// Kernel:   a third row joins the event of the first one, or, copied by threads from 14 on, that of the second.
// Launch:   grid 128, block 64, static shared memory only
// Target:   sm_80
// Expected finding: missing-wait
// Also acceptable: missing-barrier
// Line:     58
// Why:      who waits for the first event does not know of the parts that threads 14 and 15 copy.
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
__device__ __forceinline__ void mbar_arrive(uint64_t* bar) {
    asm volatile("{ .reg .b64 state; mbarrier.arrive.shared.b64 state, [%0]; }" ::"r"(smem_addr(bar)) : "memory");
}
// The phase stays open until the copies of this thread have landed, beside the arrivals that it counts anyway.
__device__ __forceinline__ void add_to_event(uint64_t* bar) {
    asm volatile("cp.async.mbarrier.arrive.shared.b64 [%0];" ::"r"(smem_addr(bar)) : "memory");
}

__global__ void row(const float* p, const float* q, float* r) {
    __shared__ alignas(16) float my_p[64], my_q[64], my_r[64];
    __shared__ alignas(8) uint64_t events[2];
    const int t = threadIdx.x;
    const int base = 64 * blockIdx.x;
    if (t < 2) mbar_init(&events[t], 64);
    __syncthreads();

    copy_row(my_p, p + base);
    add_to_event(&events[0]);
    copy_row(my_q, q + base);
    add_to_event(&events[1]);
    copy_row(my_r, r + base);
    add_to_event(&events[t > 13]);
    mbar_arrive(&events[0]);
    mbar_arrive(&events[1]);

    mbar_wait(&events[0], 0);
    const float sum = my_p[t] + my_r[t];  // BUG: missing-wait
    mbar_wait(&events[1], 0);
    r[base + t] = sum + my_q[t];
}

int main() {
    float *p, *q, *r;
    cudaMalloc(&p, 8192 * sizeof(float));
    cudaMemset(p, 0, 8192 * sizeof(float));
    cudaMalloc(&q, 8192 * sizeof(float));
    cudaMemset(q, 0, 8192 * sizeof(float));
    cudaMalloc(&r, 8192 * sizeof(float));
    cudaMemset(r, 0, 8192 * sizeof(float));
    row<<<128, 64>>>(p, q, r);
    return cudaDeviceSynchronize() != cudaSuccess;
}
