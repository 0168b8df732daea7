// Kernel:   a row goes to global memory with a bulk store and is read again from there by the block.
// Launch:   grid 16, block 256, static shared memory only
// Target:   sm_90
// Expected finding: store-not-drained
// Also acceptable: missing-wait, insufficient-wait
// Line:     38
// Why:      wait_group.read says that the source has been read, not that the destination has been written.
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

__global__ void negate_twice(const float* in, float* tmp, float* out) {
    __shared__ alignas(128) float row[256];
    const int t = threadIdx.x;
    const int base = blockIdx.x * 256;
    row[t] = -in[base + t];
    fence_async_proxy();
    __syncthreads();
    if (t == 0) {
        bulk_store(tmp + base, row, sizeof(row));
        bulk_commit();
        bulk_wait_read<0>();
    }
    __syncthreads();
    out[base + t] = -tmp[base + 255 - t];  // BUG: store-not-drained
}

int main() {
    float *in, *tmp, *out;
    cudaMalloc(&in, 16 * 256 * sizeof(float));
    cudaMalloc(&tmp, 16 * 256 * sizeof(float));
    cudaMalloc(&out, 16 * 256 * sizeof(float));
    cudaMemset(in, 0, 16 * 256 * sizeof(float));
    negate_twice<<<16, 256>>>(in, tmp, out);
    return cudaDeviceSynchronize() != cudaSuccess;
}
