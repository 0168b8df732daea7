// Kernel:   two staging buffers alternate for bulk stores.
// Launch:   grid 8, block 128, static shared memory only, rows = 9
// Target:   sm_90
// Audit:    the wait before a refill is for both buffers; with wait_group.read 1 the store from the other one would go on.
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

__global__ void alternate_stores(const float* in, float* out, int rows) {
    __shared__ alignas(128) float stage[2][128];
    const int t = threadIdx.x;
    const int base = blockIdx.x * rows * 128;

    for (int r = 0; r < rows; ++r) {
        if (t == 0) bulk_wait_read<0>();  // PERF: perf-over-wait
        __syncthreads();  // the buffer of row r - 2 may be refilled
        stage[r & 1][t] = 2.0f * in[base + r * 128 + t];
        fence_async_proxy();
        __syncthreads();
        if (t == 0) {
            bulk_store(out + base + r * 128, stage[r & 1], sizeof(stage[0]));  // BECOMES: cp.async.bulk
            bulk_commit();
        }
    }
    if (t == 0) bulk_wait_read<0>();
}

int main() {
    float *in, *out;
    cudaMalloc(&in, 8 * 9 * 128 * sizeof(float));
    cudaMalloc(&out, 8 * 9 * 128 * sizeof(float));
    cudaMemset(in, 0, 8 * 9 * 128 * sizeof(float));
    alternate_stores<<<8, 128>>>(in, out, 9);
    return cudaDeviceSynchronize() != cudaSuccess;
}
