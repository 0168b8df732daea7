// Kernel:   each thread prefetches its element of the next row only where a flag in memory says so.
// Launch:   grid 4, block 128, static shared memory only, rows = 20
// Target:   sm_80
// Expected finding: none
// Line:     -
// Why:      the group is committed in every turn, with a copy or without: the count is right for any data.
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

__global__ void prefetch_some(const uint4* in, const unsigned* flag, unsigned* out, int rows) {
    __shared__ alignas(16) uint4 slot[2][128];
    const int t = threadIdx.x;

    cp_async16(&slot[0][t], &in[t]);
    cp_async_commit();
    unsigned sum = 0;
    for (int r = 0; r < rows; ++r) {
        if (flag[r * 128 + t] > 7) {
            cp_async16(&slot[(r + 1) & 1][t], &in[(r + 1) * 128 + t]);
        }
        cp_async_commit();
        cp_async_wait<1>();
        sum += slot[r & 1][t].x;
    }
    cp_async_wait<0>();
    out[blockIdx.x * 128 + t] = sum;
}

int main() {
    uint4* in;
    unsigned* flag;
    unsigned* out;
    cudaMalloc(&in, 21 * 128 * sizeof(uint4));
    cudaMemset(in, 0, 21 * 128 * sizeof(uint4));
    cudaMalloc(&flag, 20 * 128 * sizeof(unsigned));
    cudaMemset(flag, 0, 20 * 128 * sizeof(unsigned));
    cudaMalloc(&out, 512 * sizeof(unsigned));
    cudaMemset(out, 0, 512 * sizeof(unsigned));
    prefetch_some<<<4, 128>>>(in, flag, out, 20);
    return cudaDeviceSynchronize() != cudaSuccess;
}
