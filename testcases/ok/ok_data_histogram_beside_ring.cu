// Kernel:   a histogram over a sparse row and over rows that come in through a ring of two slots.
// Launch:   grid 4, block 128, static shared memory only, rows = 20
// Target:   sm_80
// Expected finding: none
// Line:     -
// Why:      how many bins a thread counts, and which, depends on data; none of them is in the ring.
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

__global__ void histogram_rows(const uint4* in, const int* begin, const unsigned* column, unsigned* out, int rows) {
    __shared__ struct {
        unsigned bins[256];
        uint4 row[2][128];
    } s;
    const int t = threadIdx.x;

    s.bins[t] = 0;
    s.bins[t + 128] = 0;
    __syncthreads();
    cp_async16(&s.row[0][t], &in[t]);
    cp_async_commit();
    for (int r = 0; r < rows; ++r) {
        if (r + 1 < rows) cp_async16(&s.row[(r + 1) & 1][t], &in[(r + 1) * 128 + t]);
        cp_async_commit();
        for (int i = begin[t]; i < begin[t + 1]; ++i) atomicAdd(&s.bins[column[i] & 255], 1u);
        cp_async_wait<1>();
        __syncthreads();
        atomicAdd(&s.bins[s.row[r & 1][(t + 1) & 127].x & 255], 1u);
        __syncthreads();
    }
    cp_async_wait<0>();
    __syncthreads();
    out[blockIdx.x * 128 + t] = s.bins[t] + s.bins[t + 128];
}

int main() {
    uint4* in;
    int* begin;
    unsigned* column;
    unsigned* out;
    cudaMalloc(&in, 20 * 128 * sizeof(uint4));
    cudaMemset(in, 0, 20 * 128 * sizeof(uint4));
    cudaMalloc(&begin, 129 * sizeof(int));
    cudaMemset(begin, 0, 129 * sizeof(int));
    cudaMalloc(&column, 1 * sizeof(unsigned));
    cudaMemset(column, 0, 1 * sizeof(unsigned));
    cudaMalloc(&out, 512 * sizeof(unsigned));
    cudaMemset(out, 0, 512 * sizeof(unsigned));
    histogram_rows<<<4, 128>>>(in, begin, column, out, 20);
    return cudaDeviceSynchronize() != cudaSuccess;
}
