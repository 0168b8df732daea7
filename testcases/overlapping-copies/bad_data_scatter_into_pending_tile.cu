// Kernel:   two tiles are copied in; threads store into the first one at places from memory.
// Launch:   grid 4, block 64, static shared memory only
// Target:   sm_80
// Expected finding: overlapping-copies, possible
// Line:     33
// Why:      the mask is that of both tiles: places from 64 on are in the second one, whose copies may be in
//           flight.
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

__global__ void scatter(const uint4* in, const unsigned* place, unsigned* out) {
    __shared__ alignas(16) uint4 tile[2][64];
    const int t = threadIdx.x;

    cp_async16(&tile[0][t], &in[t]);
    cp_async_commit();
    cp_async16(&tile[1][t], &in[64 + t]);
    cp_async_commit();
    cp_async_wait<1>();
    __syncthreads();
    tile[0][place[t] & 127].x = t;  // BUG: overlapping-copies
    cp_async_wait<0>();
    __syncthreads();
    out[blockIdx.x * 64 + t] = tile[0][t].x + tile[1][t].x;
}

int main() {
    uint4* in;
    unsigned* place;
    unsigned* out;
    cudaMalloc(&in, 128 * sizeof(uint4));
    cudaMemset(in, 0, 128 * sizeof(uint4));
    cudaMalloc(&place, 64 * sizeof(unsigned));
    cudaMemset(place, 0, 64 * sizeof(unsigned));
    cudaMalloc(&out, 256 * sizeof(unsigned));
    cudaMemset(out, 0, 256 * sizeof(unsigned));
    scatter<<<4, 64>>>(in, place, out);
    return cudaDeviceSynchronize() != cudaSuccess;
}
