// Kernel:   each block writes a row to global memory with a bulk store and ends.
// Launch:   grid 16, block 256, static shared memory only
// Target:   sm_90
// Expected finding: none
// Line:     -
// Why:      the block stays until the store has read its shared memory; nothing here reads what it writes.
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
template <int N>
__device__ __forceinline__ void bulk_wait_read() {
    asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(N) : "memory");
}
__device__ __forceinline__ void fence_async_proxy() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }

__global__ void square_rows(const float* in, float* out) {
    __shared__ alignas(128) float row[256];
    const int t = threadIdx.x;
    const float v = in[blockIdx.x * 256 + t];
    row[t] = v * v;
    fence_async_proxy();
    __syncthreads();
    if (t == 0) {
        bulk_store(out + blockIdx.x * 256, row, sizeof(row));
        bulk_commit();
        bulk_wait_read<0>();
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
