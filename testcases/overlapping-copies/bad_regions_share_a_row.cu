// Kernel:   two tiles in dynamic shared memory, the second one placed a row too early.
// Launch:   grid 1, block 64, 2048 bytes of dynamic shared memory
// Target:   sm_80
// Expected finding: overlapping-copies
// Line:     28
// Why:      the last row of the first tile and the first of the second are the same bytes.
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

__global__ void kernel(const float4* in, float4* out) {
    extern __shared__ __align__(16) unsigned char pool[];
    float4* a = (float4*)pool;
    float4* b = (float4*)(pool + 64 * 16 - 16);
    const int t = threadIdx.x;
    cp_async16(&a[t], &in[t]);
    cp_async16(&b[t], &in[64 + t]);  // BUG: overlapping-copies
    cp_async_commit();
    cp_async_wait<0>();
    __syncthreads();
    out[t] = a[63 - t];
    out[64 + t] = b[63 - t];
}

int main() {
    float4 *in, *out;
    cudaMalloc(&in, 1 << 20);
    cudaMalloc(&out, 1 << 20);
    kernel<<<1, 64, 2048>>>(in, out);
    return cudaDeviceSynchronize() != cudaSuccess;
}
