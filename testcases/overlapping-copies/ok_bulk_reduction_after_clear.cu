// Kernel:   each block clears a row of the result and adds a row of its own to it with a bulk reduction.
// Launch:   grid 8, block 256, static shared memory only
// Target:   sm_90
// Expected finding: none
// Line:     -
// Why:      all threads clear their element and fence the async proxy before the barrier that lets the reduction
//           start.
#include <cstdint>
#include <cuda_runtime.h>

__device__ __forceinline__ uint32_t smem_addr(const void* p) {
    return static_cast<uint32_t>(__cvta_generic_to_shared(p));
}
__device__ __forceinline__ void bulk_reduce_add(float* dst, const void* src, uint32_t bytes) {
    asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32 [%0], [%1], %2;"
                 ::"l"(dst), "r"(smem_addr(src)), "r"(bytes) : "memory");
}
__device__ __forceinline__ void bulk_commit() { asm volatile("cp.async.bulk.commit_group;" ::: "memory"); }
template <int N>
__device__ __forceinline__ void bulk_wait_read() {
    asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(N) : "memory");
}
__device__ __forceinline__ void fence_async_proxy_all() { asm volatile("fence.proxy.async;" ::: "memory"); }

__global__ void clear_and_add(const float* in, float* out) {
    __shared__ alignas(128) float row[256];
    const int t = threadIdx.x;
    const int base = blockIdx.x * 256;
    row[t] = 3.f * in[base + t];
    out[base + t] = 0.f;
    fence_async_proxy_all();
    __syncthreads();
    if (t == 255) {
        bulk_reduce_add(out + base, row, sizeof(row));
        bulk_commit();
        bulk_wait_read<0>();
    }
}

int main() {
    float *in, *out;
    cudaMalloc(&in, 8 * 256 * sizeof(float));
    cudaMalloc(&out, 8 * 256 * sizeof(float));
    cudaMemset(in, 0, 8 * 256 * sizeof(float));
    clear_and_add<<<8, 256>>>(in, out);
    return cudaDeviceSynchronize() != cudaSuccess;
}
