// Kernel:   the threads of a block meet at one of two named barriers; a word in memory chooses.
// Launch:   grid 4, block 128, static shared memory only
// Target:   sm_80
// Expected finding: none
// Line:     -
// Why:      all threads read the same word, and meet at the same barrier.
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

__global__ void two_meetings(const uint4* in, const unsigned* flag, unsigned* out) {
    __shared__ alignas(16) uint4 tile[128];
    const int t = threadIdx.x;

    cp_async16(&tile[t], &in[t]);
    cp_async_commit();
    cp_async_wait<0>();
    if (flag[0] > 3) {
        asm volatile("barrier.sync 1, 128;" ::: "memory");
    } else {
        asm volatile("barrier.sync 2, 128;" ::: "memory");
    }
    out[blockIdx.x * 128 + t] = tile[127 - t].x;
}

int main() {
    uint4* in;
    unsigned* flag;
    unsigned* out;
    cudaMalloc(&in, 128 * sizeof(uint4));
    cudaMemset(in, 0, 128 * sizeof(uint4));
    cudaMalloc(&flag, 4 * sizeof(unsigned));
    cudaMemset(flag, 0, 4 * sizeof(unsigned));
    cudaMalloc(&out, 512 * sizeof(unsigned));
    cudaMemset(out, 0, 512 * sizeof(unsigned));
    two_meetings<<<4, 128>>>(in, flag, out);
    return cudaDeviceSynchronize() != cudaSuccess;
}
