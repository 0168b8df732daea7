// Kernel:   threads write a row with ordinary stores, and thread 0 stores it with a bulk copy.
// Launch:   grid 64, block 256, static shared memory only
// Target:   sm_90
// Expected finding: none
// Line:     -
// Why:      the issuing thread fences the async proxy after the barrier and before the copy; the writers need no
//           fence of their own then.
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

__global__ void negate_rows(const float* in, float* out) {
    __shared__ alignas(128) float row[256];
    const int t = threadIdx.x;
    row[t] = -in[blockIdx.x * 256 + t];
    __syncthreads();
    if (t == 0) {
        fence_async_proxy();
        bulk_store(out + blockIdx.x * 256, row, sizeof(row));
        bulk_commit();
        bulk_wait_read<0>();
    }
}

int main() {
    float *in, *out;
    cudaMalloc(&in, 64 * 256 * sizeof(float));
    cudaMalloc(&out, 64 * 256 * sizeof(float));
    cudaMemset(in, 0, 64 * 256 * sizeof(float));
    negate_rows<<<64, 256>>>(in, out);
    return cudaDeviceSynchronize() != cudaSuccess;
}
