// Kernel:   two warps count in shared memory by atomics; behind a barrier one of them reads the sums and refills them by cp.async.
// Launch:   grid 1, block 64, static shared memory only
// Target:   sm_80
// Expected finding: none
// Why:      the barrier orders the atomics of both warps before the read and the copy.
#include <cstdint>
#include <cuda_runtime.h>

__device__ __forceinline__ uint32_t smem_addr(const void* p) {
    return static_cast<uint32_t>(__cvta_generic_to_shared(p));
}
__device__ __forceinline__ void cp_async4(void* dst, const void* src) {
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(smem_addr(dst)), "l"(src) : "memory");
}

__global__ void count_then_refill(const int* in, int* out) {
    __shared__ int counts[32];
    const int lane = threadIdx.x % 32;
    counts[lane] = 0;
    __syncthreads();
    atomicAdd(&counts[lane], in[threadIdx.x]);
    __syncthreads();
    if (threadIdx.x < 32) {
        out[lane] = counts[lane];
        cp_async4(&counts[lane], in + 64 + lane);
        asm volatile("cp.async.wait_all;" ::: "memory");
        out[32 + lane] = counts[lane];
    }
}

int main() {
    int *in, *out;
    cudaMalloc(&in, 96 * sizeof(int));
    cudaMalloc(&out, 64 * sizeof(int));
    cudaMemset(in, 0, 96 * sizeof(int));
    count_then_refill<<<1, 64>>>(in, out);
    return cudaDeviceSynchronize() != cudaSuccess;
}
