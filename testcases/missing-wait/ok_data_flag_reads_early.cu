// Kernel:   threads whose flag in memory is set read their element of a tile ahead of the others.
// Launch:   grid 4, block 64, static shared memory only
// Target:   sm_80
// Expected finding: none
// Line:     -
// Why:      the thread has waited for its copy before it looks at its flag.
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

__global__ void early_look(const uint4* in, const unsigned* flag, unsigned* out) {
    __shared__ alignas(16) uint4 tile[64];
    const int t = threadIdx.x;
    unsigned sum = 0;

    cp_async16(&tile[t], &in[t]);
    cp_async_commit();
    cp_async_wait<0>();
    if (flag[t] > 3) sum = tile[t].x;
    __syncthreads();
    out[blockIdx.x * 64 + t] = sum + tile[63 - t].y;
}

int main() {
    uint4* in;
    unsigned* flag;
    unsigned* out;
    cudaMalloc(&in, 64 * sizeof(uint4));
    cudaMemset(in, 0, 64 * sizeof(uint4));
    cudaMalloc(&flag, 64 * sizeof(unsigned));
    cudaMemset(flag, 0, 64 * sizeof(unsigned));
    cudaMalloc(&out, 256 * sizeof(unsigned));
    cudaMemset(out, 0, 256 * sizeof(unsigned));
    early_look<<<4, 64>>>(in, flag, out);
    return cudaDeviceSynchronize() != cudaSuccess;
}
