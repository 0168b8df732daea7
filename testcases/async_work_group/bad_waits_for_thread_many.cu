// Kernel:   thread t waits for t groups, of which there is one.
// Launch:   grid 128, block 64, static shared memory only
// Target:   sm_80
// Expected finding: missing-wait
// Also acceptable: barrier-only-handoff, insufficient-wait
// Line:     42
// Why:      thread 0 waits for none, so that nobody waits for its part of the row.
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
// The first 16 threads bring in 64 floats, 16 bytes each.
__device__ __forceinline__ void copy_row(float* dst, const float* src) {
    const int t = threadIdx.x;
    if (t < 16) cp_async16(dst + 4 * t, src + 4 * t);
}

__device__ __forceinline__ void wait_for(int groups) {
    if (groups >= 1) cp_async_wait<0>();
}

__global__ void row(float* p) {
    __shared__ alignas(16) float mine[64];
    const int t = threadIdx.x;
    float* const own = p + 64 * blockIdx.x;

    copy_row(mine, own);
    cp_async_commit();
    wait_for(t);
    __syncthreads();

    own[t] = 2 * mine[t];  // BUG: missing-wait
}

int main() {
    float *p;
    cudaMalloc(&p, 8192 * sizeof(float));
    cudaMemset(p, 0, 8192 * sizeof(float));
    row<<<128, 64>>>(p);
    return cudaDeviceSynchronize() != cudaSuccess;
}
