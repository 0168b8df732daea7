// Kernel:   each block writes a row to global memory with a bulk store and ends.
// Launch:   grid 16, block 256, static shared memory only
// Target:   sm_90
// Expected finding: store-not-drained
// Also acceptable: leaked-copy
// Line:     29
// Why:      the block may end, and its shared memory go to another one, while the store is still reading it.
#include <cstdint>
#include <cuda_runtime.h>

__device__ __forceinline__ uint32_t smem_addr(const void* p) {
    return static_cast<uint32_t>(__cvta_generic_to_shared(p));
}
__device__ __forceinline__ void bulk_store(void* dst, const void* src, uint32_t bytes) {
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;"
                 ::"l"(dst), "r"(smem_addr(src)), "r"(bytes) : "memory");
}
__device__ __forceinline__ void bulk_commit() { asm volatile("cp.async.bulk.commit_group;" ::: "memory"); }
__device__ __forceinline__ void fence_async_proxy() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }

__global__ void square_rows(const float* in, float* out) {
    __shared__ alignas(128) float row[256];
    const int t = threadIdx.x;
    const float v = in[blockIdx.x * 256 + t];
    row[t] = v * v;
    fence_async_proxy();
    __syncthreads();
    if (t == 0) {
        bulk_store(out + blockIdx.x * 256, row, sizeof(row));  // BUG: store-not-drained
        bulk_commit();
    }
}

int main() {
    float *in, *out;
    cudaMalloc(&in, 16 * 256 * sizeof(float));
    cudaMalloc(&out, 16 * 256 * sizeof(float));
    cudaMemset(in, 0, 16 * 256 * sizeof(float));
    square_rows<<<16, 256>>>(in, out);
    return cudaDeviceSynchronize() != cudaSuccess;
}
