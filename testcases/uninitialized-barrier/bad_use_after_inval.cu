// Kernel:   two rounds with one mbarrier, which is invalidated in between.
// Launch:   grid 16, block 128, static shared memory only
// Target:   sm_80
// Expected finding: uninitialized-barrier
// Also acceptable: hang
// Line:     52
// Why:      after mbarrier.inval the bytes are no barrier any more; the second round arrives at it without a new
//           initialisation.
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
__device__ __forceinline__ void mbar_inval(uint64_t* bar) {
    asm volatile("mbarrier.inval.shared.b64 [%0];" ::"r"(smem_addr(bar)) : "memory");
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

__global__ void two_rounds(const float4* in, float4* out) {
    __shared__ alignas(16) float4 tile[128];
    __shared__ alignas(8) uint64_t full;
    const int t = threadIdx.x;
    const int base = blockIdx.x * 256;

    if (t == 0) mbar_init(&full, 128);
    __syncthreads();
    cp_async16(&tile[t], &in[base + t]);
    arrive_when_copied(&full);
    mbar_wait(&full, 0);
    out[base + t] = tile[127 - t];
    __syncthreads();  // the first round is over
    if (t == 0) mbar_inval(&full);
    __syncthreads();

    cp_async16(&tile[t], &in[base + 128 + t]);
    arrive_when_copied(&full);  // BUG: uninitialized-barrier
    mbar_wait(&full, 0);
    out[base + 128 + t] = tile[127 - t];
}

int main() {
    float4 *in, *out;
    cudaMalloc(&in, 16 * 256 * sizeof(float4));
    cudaMalloc(&out, 16 * 256 * sizeof(float4));
    cudaMemset(in, 0, 16 * 256 * sizeof(float4));
    two_rounds<<<16, 128>>>(in, out);
    return cudaDeviceSynchronize() != cudaSuccess;
}
