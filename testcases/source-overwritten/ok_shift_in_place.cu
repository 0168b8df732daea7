// Kernel:   an array is shifted in place by one element through shared memory, with a barrier before the
//           stores.
// Launch:   grid 1, block 64, static shared memory only
// Target:   sm_80
// Expected finding: none
// Line:     -
// Why:      all copies are complete before any element is overwritten.
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

__global__ void kernel(float4* data, float4* out) {
    __shared__ alignas(16) float4 tile[66];
    const int t = threadIdx.x;
    cp_async16(&tile[t], &data[t]);
    if (t < 2) cp_async16(&tile[64 + t], &data[64 + t]);
    cp_async_commit();
    cp_async_wait<0>();
    __syncthreads();
    float4 v = tile[t];
    data[t + 1] = make_float4(v.x + 1, v.y, v.z, v.w);
}

int main() {
    float4 *in, *out;
    cudaMalloc(&in, 1 << 20);
    cudaMalloc(&out, 1 << 20);
    kernel<<<1, 64, 0>>>(in, out);
    return cudaDeviceSynchronize() != cudaSuccess;
}
