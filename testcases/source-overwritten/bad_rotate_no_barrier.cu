// Kernel:   128 elements are rotated by one place within the same array.
// Launch:   grid 16, block 128, static shared memory only
// Target:   sm_80
// Expected finding: source-overwritten
// Also acceptable: missing-barrier
// Line:     32
// Why:      each thread has its own element when its wait returns, but the element that it writes is the source
//           of the next thread's copy, which may not have read it yet.
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

__global__ void rotate_in_place(float4* data) {
    __shared__ alignas(16) float4 tile[128];
    const int t = threadIdx.x;
    float4* block = data + blockIdx.x * 128;

    cp_async16(&tile[t], &block[t]);
    cp_async_commit();
    cp_async_wait<0>();
    block[(t + 1) % 128] = tile[t];  // BUG: source-overwritten
}

int main() {
    float4* data;
    cudaMalloc(&data, 16 * 128 * sizeof(float4));
    cudaMemset(data, 0, 16 * 128 * sizeof(float4));
    rotate_in_place<<<16, 128>>>(data);
    return cudaDeviceSynchronize() != cudaSuccess;
}
