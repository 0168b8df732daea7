// Kernel:   the source size of the tail is computed from the elements left, without the limit of 16 bytes.
// Launch:   grid 1, block 64, static shared memory only, n = 101
// Target:   sm_80
// Expected finding: misaligned-copy
// Line:     27
// Why:      a source size larger than the copy is undefined.
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

__global__ void kernel(const float4* in, float4* out, int n) {
    __shared__ alignas(16) float tile[256];
    const int t = threadIdx.x;
    const int left = n - 4 * t;
    const int bytes = left > 0 ? 4 * left : 0;
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(smem_addr(&tile[4 * t])), "l"(in + t), "r"(bytes) : "memory");  // BUG: misaligned-copy
    cp_async_commit();
    cp_async_wait<0>();
    __syncthreads();
    out[t].x = tile[255 - 4 * t];
}

int main() {
    float4 *in, *out;
    cudaMalloc(&in, 1 << 20);
    cudaMalloc(&out, 1 << 20);
    kernel<<<1, 64, 0>>>(in, out, 101);
    return cudaDeviceSynchronize() != cudaSuccess;
}
