// Kernel:   every thread stages one element, clears it in global memory and passes it on.
// Launch:   grid 16, block 128, static shared memory only
// Target:   sm_80
// Expected finding: source-overwritten
// Line:     29
// Why:      the element is cleared while the copy may still be reading it, so zeros may be what arrives.
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

__global__ void drain(float4* data, float4* out) {
    __shared__ alignas(16) float4 tile[128];
    const int t = threadIdx.x;
    const int g = blockIdx.x * 128 + t;

    cp_async16(&tile[t], &data[g]);
    cp_async_commit();
    data[g] = make_float4(0.f, 0.f, 0.f, 0.f);  // BUG: source-overwritten
    cp_async_wait<0>();
    __syncthreads();
    out[g] = tile[127 - t];
}

int main() {
    float4 *data, *out;
    cudaMalloc(&data, 16 * 128 * sizeof(float4));
    cudaMalloc(&out, 16 * 128 * sizeof(float4));
    cudaMemset(data, 0, 16 * 128 * sizeof(float4));
    drain<<<16, 128>>>(data, out);
    return cudaDeviceSynchronize() != cudaSuccess;
}
