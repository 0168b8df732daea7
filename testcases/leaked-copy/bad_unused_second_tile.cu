// Kernel:   a second tile is fetched early in case it is needed; this launch does not need it.
// Launch:   grid 16, block 128, static shared memory only, use_second = 0
// Target:   sm_80
// Expected finding: leaked-copy
// Line:     31
// Why:      the second tile is waited for only where it is used, so without that use its copies outlive the
//           block.
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

__global__ void maybe_add(const float4* a, const float4* b, float* out, int use_second) {
    __shared__ alignas(16) float4 first[128];
    __shared__ alignas(16) float4 second[128];
    const int t = threadIdx.x;
    const int g = blockIdx.x * 128 + t;

    cp_async16(&first[t], &a[g]);
    cp_async_commit();
    cp_async16(&second[t], &b[g]);  // BUG: leaked-copy
    cp_async_commit();
    cp_async_wait<1>();
    __syncthreads();
    float sum = first[127 - t].x;
    if (use_second) {
        cp_async_wait<0>();
        __syncthreads();
        sum += second[127 - t].x;
    }
    out[g] = sum;
}

int main() {
    float4 *a, *b;
    float* out;
    cudaMalloc(&a, 16 * 128 * sizeof(float4));
    cudaMalloc(&b, 16 * 128 * sizeof(float4));
    cudaMalloc(&out, 16 * 128 * sizeof(float));
    cudaMemset(a, 0, 16 * 128 * sizeof(float4));
    cudaMemset(b, 0, 16 * 128 * sizeof(float4));
    maybe_add<<<16, 128>>>(a, b, out, 0);
    return cudaDeviceSynchronize() != cudaSuccess;
}
