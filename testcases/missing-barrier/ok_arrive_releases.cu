// Kernel:   one half of the block writes a row and arrives on an mbarrier; the other half waits on it and reads the
//           row.
// Launch:   grid 8, block 128, static shared memory only
// Target:   sm_90
// Expected finding: none
// Line:     -
// Why:      an arrival is a release by default and the wait an acquire: the row is handed over.
#include <cstdint>
#include <cuda_runtime.h>

__device__ __forceinline__ uint32_t smem_addr(const void* p) {
    return static_cast<uint32_t>(__cvta_generic_to_shared(p));
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

__global__ void halves(const float* in, float* out) {
    __shared__ float row[64];
    __shared__ alignas(8) uint64_t written;
    const int t = threadIdx.x;
    if (t == 0) mbar_init(&written, 64);
    __syncthreads();
    if (t < 64) {
        row[t] = 2.f * in[blockIdx.x * 64 + t];
        mbar_arrive(&written);
    } else {
        mbar_wait(&written, 0);
        out[blockIdx.x * 64 + t - 64] = row[127 - t];
    }
}

int main() {
    float *in, *out;
    cudaMalloc(&in, 8 * 64 * sizeof(float));
    cudaMalloc(&out, 8 * 64 * sizeof(float));
    cudaMemset(in, 0, 8 * 64 * sizeof(float));
    halves<<<8, 128>>>(in, out);
    return cudaDeviceSynchronize() != cudaSuccess;
}
