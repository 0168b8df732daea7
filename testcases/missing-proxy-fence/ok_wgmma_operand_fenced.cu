// Kernel:   threads write the operands of a wgmma with ordinary stores.
// Launch:   grid 4, block 128, static shared memory only
// Target:   sm_90a
// Expected finding: none
// Line:     -
// Why:      every thread fences the async proxy after its stores and before the barrier.
#include <cstdint>
#include <cuda_runtime.h>

__device__ __forceinline__ uint32_t smem_addr(const void* p) {
    return static_cast<uint32_t>(__cvta_generic_to_shared(p));
}
__device__ __forceinline__ void fence_async_proxy() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }
__device__ __forceinline__ uint64_t matrix_desc(const void* p, uint32_t lead_bytes, uint32_t stride_bytes) {
    return uint64_t((smem_addr(p) & 0x3ffff) >> 4) | uint64_t(lead_bytes >> 4) << 16 | uint64_t(stride_bytes >> 4) << 32;
}
__device__ __forceinline__ void wgmma_fence() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
__device__ __forceinline__ void wgmma_commit() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
template <int N>
__device__ __forceinline__ void wgmma_wait() {
    asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(N) : "memory");
}
__device__ __forceinline__ void wgmma_m64n8k16(float (&d)[4], uint64_t a, uint64_t b) {
    asm volatile("{ .reg .pred p; setp.eq.u32 p, 1, 1;\n"
                 "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%0,%1,%2,%3}, %4, %5, p, 1, 1, 0, 0; }"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "l"(a), "l"(b) : "memory");
}

__global__ void __launch_bounds__(128) product(const uint4* a, const uint4* b, float* out) {
    __shared__ alignas(128) uint4 tile_a[128], tile_b[16];  // 64x16 and 8x16 bf16, as core matrices
    const int t = threadIdx.x;
    tile_a[t] = a[blockIdx.x * 128 + t];
    if (t < 16) tile_b[t] = b[t];
    fence_async_proxy();
    __syncthreads();
    float d[4] = {0.f, 0.f, 0.f, 0.f};
    wgmma_fence();
    wgmma_m64n8k16(d, matrix_desc(tile_a, 1024, 128), matrix_desc(tile_b, 128, 128));
    wgmma_commit();
    wgmma_wait<0>();
    for (int i = 0; i < 4; ++i) out[(blockIdx.x * 128 + t) * 4 + i] = d[i];
}

int main() {
    uint4 *a, *b;
    float* out;
    cudaMalloc(&a, 4 * 128 * sizeof(uint4));
    cudaMalloc(&b, 16 * sizeof(uint4));
    cudaMalloc(&out, 4 * 128 * 4 * sizeof(float));
    cudaMemset(a, 0, 4 * 128 * sizeof(uint4));
    product<<<4, 128>>>(a, b, out);
    return cudaDeviceSynchronize() != cudaSuccess;
}
