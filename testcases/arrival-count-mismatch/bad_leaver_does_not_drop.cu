// Kernel:   an mbarrier takes the place of the block barrier in a double-buffered cp.async loop; the last warp has
//           two tiles, the others have four.
// Launch:   grid 6, block 128, static shared memory only
// Target:   sm_90
// Expected finding: arrival-count-mismatch
// Also acceptable: hang, divergent-protocol
// Line:     55
// Why:      the last warp leaves with a plain arrival for the third phase; the fourth still counts its 32 threads
//           and never completes.
#include <cstdint>
#include <cuda_runtime.h>

__device__ __forceinline__ uint32_t smem_addr(const void* p) {
    return static_cast<uint32_t>(__cvta_generic_to_shared(p));
}
__device__ __forceinline__ void mbar_init(uint64_t* bar, uint32_t count) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(smem_addr(bar)), "r"(count) : "memory");
}
__device__ __forceinline__ void mbar_arrive(uint64_t* bar) {
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(smem_addr(bar)) : "memory");
}
__device__ __forceinline__ void mbar_wait(uint64_t* bar, uint32_t parity) {
    uint32_t done = 0;
    while (!done) {
        asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
                     : "=r"(done) : "r"(smem_addr(bar)), "r"(parity) : "memory");
    }
}
__device__ __forceinline__ void cp_async16(void* dst, const void* src) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(smem_addr(dst)), "l"(src) : "memory");
}
__device__ __forceinline__ void cp_async_commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int N>
__device__ __forceinline__ void cp_async_wait() {
    asm volatile("cp.async.wait_group %0;" ::"n"(N) : "memory");
}

__global__ void uneven(const float4* in, float* out) {
    __shared__ alignas(16) float4 row[2][128];
    __shared__ alignas(8) uint64_t bar;
    const int t = threadIdx.x;
    if (t == 0) mbar_init(&bar, 128);
    __syncthreads();
    const int tiles = t < 96 ? 4 : 2;
    const int next = t < 96 ? (t + 1) % 96 : 96 + (t + 1) % 32;
    float sum = 0.f;
    for (int k = 0; k < tiles; ++k) {
        cp_async16(&row[k % 2][t], &in[(blockIdx.x * 4 + k) * 128 + t]);
        cp_async_commit();
        cp_async_wait<0>();
        mbar_arrive(&bar);
        mbar_wait(&bar, k & 1);
        sum += row[k % 2][next].x;
    }
    if (t >= 96) mbar_arrive(&bar);  // BUG: arrival-count-mismatch
    out[blockIdx.x * 128 + t] = sum;
}

int main() {
    float4* in;
    float* out;
    cudaMalloc(&in, 6 * 512 * sizeof(float4));
    cudaMalloc(&out, 6 * 128 * sizeof(float));
    cudaMemset(in, 0, 6 * 512 * sizeof(float4));
    uneven<<<6, 128>>>(in, out);
    return cudaDeviceSynchronize() != cudaSuccess;
}
