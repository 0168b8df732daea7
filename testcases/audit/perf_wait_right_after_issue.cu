// Kernel:   a row of 64 float4 is copied, waited for at once, and passed on.
// Launch:   grid 1, block 64, static shared memory only
// Target:   sm_80
// Audit:    the copy is a cp.async, but nothing lies between issue and wait: a plain copy would do as well.
#include <cstdint>
#include <cuda_runtime.h>

__device__ __forceinline__ uint32_t smem_addr(const void* p) {
    return static_cast<uint32_t>(__cvta_generic_to_shared(p));
}
__device__ __forceinline__ void cp_async16(void* dst, const void* src) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(smem_addr(dst)), "l"(src) : "memory");
}
__device__ __forceinline__ void cp_async_commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int N>
__device__ __forceinline__ void cp_async_wait() {
    asm volatile("cp.async.wait_group %0;" ::"n"(N) : "memory");
}

__global__ void row_exchange(const float4* in, float4* out) {
    __shared__ alignas(16) float4 rows[64];
    const int t = threadIdx.x;

    cp_async16(&rows[t], &in[t]);  // BECOMES: cp.async.cg, 16 bytes
    cp_async_commit();
    cp_async_wait<0>();  // PERF: perf-no-overlap
    __syncthreads();
    out[t] = rows[(t + 1) % 64];
}

int main() {
    float4 *in, *out;
    cudaMalloc(&in, 64 * sizeof(float4));
    cudaMalloc(&out, 64 * sizeof(float4));
    row_exchange<<<1, 64>>>(in, out);
    return cudaDeviceSynchronize() != cudaSuccess;
}
