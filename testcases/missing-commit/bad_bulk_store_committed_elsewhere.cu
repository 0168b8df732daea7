// Kernel:   a loop stages one row at a time in the same buffer and writes it out with a bulk store.
// Launch:   grid 12, block 256, static shared memory only, rows = 8
// Target:   sm_90
// Expected finding: missing-commit
// Also acceptable: premature-overwrite, store-not-drained, missing-wait
// Line:     34
// Why:      bulk groups belong to a thread: the commit and the wait of another thread do not cover this store.
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

__global__ void row_writer(const float* in, float* out, int rows) {
    __shared__ alignas(128) float row[256];
    const int t = threadIdx.x;
    const int base = blockIdx.x * rows * 256;

    for (int r = 0; r < rows; ++r) {
        row[t] = in[base + r * 256 + t] + 1.0f;
        fence_async_proxy();
        __syncthreads();
        if (t == 0) bulk_store(out + base + r * 256, row, sizeof(row));  // BUG: missing-commit
        if (t == 32) {
            bulk_commit();
            bulk_wait_read<0>();
        }
        __syncthreads();
    }
}

int main() {
    float *in, *out;
    cudaMalloc(&in, 12 * 8 * 256 * sizeof(float));
    cudaMalloc(&out, 12 * 8 * 256 * sizeof(float));
    cudaMemset(in, 0, 12 * 8 * 256 * sizeof(float));
    row_writer<<<12, 256>>>(in, out, 8);
    return cudaDeviceSynchronize() != cudaSuccess;
}
