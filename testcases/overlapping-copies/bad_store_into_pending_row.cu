// Kernel:   every thread stages one point and sets its fourth coordinate to 1.
// Launch:   grid 16, block 128, static shared memory only
// Target:   sm_80
// Expected finding: overlapping-copies
// Also acceptable: missing-wait
// Line:     31
// Why:      the store and the copy in flight write the same word without an order, so the copy may put the old
//           coordinate back.
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

__global__ void homogeneous(const float4* in, float4* out) {
    __shared__ alignas(16) float4 tile[128];
    const int t = threadIdx.x;
    const int g = blockIdx.x * 128 + t;

    cp_async16(&tile[t], &in[g]);
    cp_async_commit();
    reinterpret_cast<float*>(&tile[t])[3] = 1.f;  // BUG: overlapping-copies
    cp_async_wait<0>();
    __syncthreads();
    out[g] = tile[127 - t];
}

int main() {
    float4 *in, *out;
    cudaMalloc(&in, 16 * 128 * sizeof(float4));
    cudaMalloc(&out, 16 * 128 * sizeof(float4));
    cudaMemset(in, 0, 16 * 128 * sizeof(float4));
    homogeneous<<<16, 128>>>(in, out);
    return cudaDeviceSynchronize() != cudaSuccess;
}
