// Kernel:   rows past the end of two arrays are skipped: of the first array by a source size of 0, of the second by
//           not copying at all.
// Launch:   grid 4, block 128, static shared memory only, n = 500
// Target:   sm_80
// Expected finding: none
// Line:     -
// Why:      a copy with source size 0 reads nothing, wherever its source points, and writes zeros that the wait
//           covers; rows of b that were not copied are not read.
#include <cstdint>
#include <cuda_runtime.h>

__device__ __forceinline__ uint32_t smem_addr(const void* p) {
    return static_cast<uint32_t>(__cvta_generic_to_shared(p));
}
__device__ __forceinline__ void cp_async16(void* dst, const void* src) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(smem_addr(dst)), "l"(src) : "memory");
}
__device__ __forceinline__ void cp_async16_zfill(void* dst, const void* src, uint32_t bytes) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(smem_addr(dst)), "l"(src), "r"(bytes) : "memory");
}
__device__ __forceinline__ void cp_async_commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int N>
__device__ __forceinline__ void cp_async_wait() {
    asm volatile("cp.async.wait_group %0;" ::"n"(N) : "memory");
}

__global__ void sum_rows(const float4* a, const float4* b, float* out, int n) {
    __shared__ alignas(16) float4 rows_a[128], rows_b[128];
    const int t = threadIdx.x;
    const int i = blockIdx.x * 128 + t;

    cp_async16_zfill(&rows_a[t], a + i, i < n ? 16 : 0);  // the address may lie past the end
    if (i < n) cp_async16(&rows_b[t], b + i);
    cp_async_commit();
    cp_async_wait<0>();
    __syncthreads();

    const int next = (t + 1) % 128;
    float sum = rows_a[next].x;  // zero past the end
    if (blockIdx.x * 128 + next < n) sum += rows_b[next].x;
    out[i] = sum;
}

int main() {
    const int n = 500;
    float4 *a, *b;
    float* out;
    cudaMalloc(&a, n * sizeof(float4));
    cudaMalloc(&b, n * sizeof(float4));
    cudaMalloc(&out, 512 * sizeof(float));
    cudaMemset(a, 0, n * sizeof(float4));
    sum_rows<<<4, 128>>>(a, b, out, n);
    return cudaDeviceSynchronize() != cudaSuccess;
}
