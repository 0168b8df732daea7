// Kernel:   a lookup table of 256 words is copied in; each thread looks one word up, by an index from memory.
// Launch:   grid 4, block 64, static shared memory only
// Target:   sm_80
// Expected finding: none
// Line:     -
// Why:      all copies are complete and visible before the lookup, whatever the index; the mask keeps it
//           inside of the table.
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

__global__ void look_up(const uint4* table_in, const int* index, unsigned* out) {
    __shared__ alignas(16) unsigned table[256];
    const int t = threadIdx.x;

    cp_async16(&table[t * 4], &table_in[t]);
    cp_async_commit();
    cp_async_wait<0>();
    __syncthreads();
    out[blockIdx.x * 64 + t] = table[index[blockIdx.x * 64 + t] & 255];
}

int main() {
    uint4* table;
    int* index;
    unsigned* out;
    cudaMalloc(&table, 64 * sizeof(uint4));
    cudaMemset(table, 0, 64 * sizeof(uint4));
    cudaMalloc(&index, 256 * sizeof(int));
    cudaMemset(index, 0, 256 * sizeof(int));
    cudaMalloc(&out, 256 * sizeof(unsigned));
    cudaMemset(out, 0, 256 * sizeof(unsigned));
    look_up<<<4, 64>>>(table, index, out);
    return cudaDeviceSynchronize() != cudaSuccess;
}
