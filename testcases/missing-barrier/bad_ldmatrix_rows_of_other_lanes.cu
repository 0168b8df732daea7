// Kernel:   each lane copies a row of 16 bytes; the warp loads four 8x8 matrices with ldmatrix.
// Launch:   grid 8, block 32, static shared memory only
// Target:   sm_80
// Expected finding: missing-barrier
// Line:     34
// Why:      ldmatrix gives a lane parts of rows that other lanes copied and waited for; the .sync of ldmatrix
//           orders no memory.
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

__device__ __forceinline__ void ldmatrix4(uint4& v, uint32_t address) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];" : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "r"(address) : "memory");
}

__global__ void matrices(const uint4* in, uint4* out) {
    __shared__ alignas(16) uint4 row[32];
    const int lane = threadIdx.x;
    cp_async16(&row[lane], &in[blockIdx.x * 32 + lane]);
    cp_async_commit();
    cp_async_wait<0>();
    uint4 v;
    ldmatrix4(v, smem_addr(&row[lane]));  // BUG: missing-barrier
    out[blockIdx.x * 32 + lane] = v;
}

int main() {
    uint4 *in, *out;
    cudaMalloc(&in, 8 * 32 * sizeof(uint4));
    cudaMalloc(&out, 8 * 32 * sizeof(uint4));
    cudaMemset(in, 0, 8 * 32 * sizeof(uint4));
    matrices<<<8, 32>>>(in, out);
    return cudaDeviceSynchronize() != cudaSuccess;
}
