// Kernel:   two tiles are staged and added; each of them should be a copy group of its own.
// Launch:   grid 16, block 128, static shared memory only
// Target:   sm_80
// Expected finding: missing-commit
// Also acceptable: missing-wait, insufficient-wait
// Line:     37
// Why:      the copies of the second tile come after the only commit, so they belong to no group and wait_group
//           0 does not cover them.
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

__global__ void add_tiles(const float4* a, const float4* b, float4* out) {
    __shared__ alignas(16) float4 tile_a[128];
    __shared__ alignas(16) float4 tile_b[128];
    const int t = threadIdx.x;
    const int g = blockIdx.x * 128 + t;

    cp_async16(&tile_a[t], &a[g]);
    cp_async_commit();
    cp_async16(&tile_b[t], &b[g]);
    cp_async_wait<0>();
    __syncthreads();

    const float4 x = tile_a[127 - t];
    const float4 y = tile_b[127 - t];  // BUG: missing-commit
    out[g] = make_float4(x.x + y.x, x.y + y.y, x.z + y.z, x.w + y.w);
}

int main() {
    float4 *a, *b, *out;
    cudaMalloc(&a, 16 * 128 * sizeof(float4));
    cudaMalloc(&b, 16 * 128 * sizeof(float4));
    cudaMalloc(&out, 16 * 128 * sizeof(float4));
    cudaMemset(a, 0, 16 * 128 * sizeof(float4));
    cudaMemset(b, 0, 16 * 128 * sizeof(float4));
    add_tiles<<<16, 128>>>(a, b, out);
    return cudaDeviceSynchronize() != cudaSuccess;
}
