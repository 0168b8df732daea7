// Kernel:   a row of 64 float4 is copied while every thread computes on a value of its own.
// Launch:   grid 1, block 64, static shared memory only
// Target:   sm_80
// Audit:    silent: the loop of multiplications needs nothing of the copy and lies between issue and wait.
#include <cstdint>
#include <cuda_runtime.h>

__device__ __forceinline__ uint32_t smem_addr(const void* p) {
    return static_cast<uint32_t>(__cvta_generic_to_shared(p));
}
__device__ __forceinline__ void cp_async4(void* dst, const void* src) {
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(smem_addr(dst)), "l"(src) : "memory");
}

__global__ void scale_row(const float* in, const float* factors, float* out) {
    __shared__ float row[64];
    const int t = threadIdx.x;

    cp_async4(&row[t], &in[t]);  // BECOMES: cp.async.ca, 4 bytes
    asm volatile("cp.async.commit_group;" ::: "memory");
    float factor = factors[t];
    for (int i = 0; i < 8; ++i) factor = factor * factor + 1.f;
    out[64 + t] = factor;
    asm volatile("cp.async.wait_all;" ::: "memory");
    __syncthreads();
    out[t] = row[t ^ 32] * factor;
}

int main() {
    float *in, *factors, *out;
    cudaMalloc(&in, 64 * sizeof(float));
    cudaMalloc(&factors, 64 * sizeof(float));
    cudaMalloc(&out, 128 * sizeof(float));
    scale_row<<<1, 64>>>(in, factors, out);
    return cudaDeviceSynchronize() != cudaSuccess;
}
