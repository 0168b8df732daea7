// Kernel:   128 elements are staged and reversed; the wait is written without a "memory" clobber.
// Launch:   grid 16, block 128, static shared memory only
// Target:   sm_80
// Expected finding: missing-clobber
// Also acceptable: missing-wait
// Line:     21
// Why:      the compiler may move accesses to memory across an asm statement that does not say that it touches
//           memory; only the barrier behind it keeps the order here.
#include <cstdint>
#include <cuda_runtime.h>

__device__ __forceinline__ uint32_t smem_addr(const void* p) {
    return static_cast<uint32_t>(__cvta_generic_to_shared(p));
}
__device__ __forceinline__ void cp_async16(void* dst, const void* src) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(smem_addr(dst)), "l"(src) : "memory");
}
__device__ __forceinline__ void cp_async_commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }

__device__ __forceinline__ void cp_async_wait_all() {
    asm volatile("cp.async.wait_all;");  // BUG: missing-clobber
}

__global__ void reverse128(const float4* in, float4* out) {
    __shared__ alignas(16) float4 tile[128];
    const int t = threadIdx.x;
    const int base = blockIdx.x * 128;

    cp_async16(&tile[t], &in[base + t]);
    cp_async_commit();
    cp_async_wait_all();
    __syncthreads();
    out[base + t] = tile[127 - t];
}

int main() {
    float4 *in, *out;
    cudaMalloc(&in, 16 * 128 * sizeof(float4));
    cudaMalloc(&out, 16 * 128 * sizeof(float4));
    cudaMemset(in, 0, 16 * 128 * sizeof(float4));
    reverse128<<<16, 128>>>(in, out);
    return cudaDeviceSynchronize() != cudaSuccess;
}
