// Kernel:   two warps hand a tile over through a named barrier that is written without a "memory" clobber.
// Launch:   grid 16, block 64, static shared memory only
// Target:   sm_80
// Expected finding: missing-clobber
// Also acceptable: missing-barrier
// Line:     25
// Why:      nothing tells the compiler that the barrier orders memory, so it may move the read of the tile above
//           it.
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

__device__ __forceinline__ void pair_sync() {
    asm volatile("bar.sync 1, 64;");  // BUG: missing-clobber
}

__global__ void reverse64(const float4* in, float4* out) {
    __shared__ alignas(16) float4 tile[64];
    const int t = threadIdx.x;
    const int base = blockIdx.x * 64;

    cp_async16(&tile[t], &in[base + t]);
    cp_async_commit();
    cp_async_wait<0>();
    pair_sync();
    out[base + t] = tile[63 - t];
}

int main() {
    float4 *in, *out;
    cudaMalloc(&in, 16 * 64 * sizeof(float4));
    cudaMalloc(&out, 16 * 64 * sizeof(float4));
    cudaMemset(in, 0, 16 * 64 * sizeof(float4));
    reverse64<<<16, 64>>>(in, out);
    return cudaDeviceSynchronize() != cudaSuccess;
}
