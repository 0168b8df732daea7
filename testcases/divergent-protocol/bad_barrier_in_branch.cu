// Kernel:   48 of 64 threads stage a tile and reverse it.
// Launch:   grid 16, block 64, static shared memory only
// Target:   sm_80
// Expected finding: divergent-protocol
// Also acceptable: hang
// Line:     33
// Why:      the block barrier stands in a branch that only half of the second warp takes, so the other half
//           meets it at the next barrier instead.
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

__global__ void reverse48(const float4* in, float4* out, int* done) {
    __shared__ alignas(16) float4 tile[48];
    const int t = threadIdx.x;
    const int base = blockIdx.x * 48;

    if (t < 48) {
        cp_async16(&tile[t], &in[base + t]);
        cp_async_commit();
        cp_async_wait<0>();
        __syncthreads();  // BUG: divergent-protocol
        out[base + t] = tile[47 - t];
    }
    __syncthreads();
    if (t == 0) done[blockIdx.x] = 1;
}

int main() {
    float4 *in, *out;
    int* done;
    cudaMalloc(&done, 16 * sizeof(int));
    cudaMalloc(&in, 16 * 48 * sizeof(float4));
    cudaMalloc(&out, 16 * 48 * sizeof(float4));
    cudaMemset(in, 0, 16 * 48 * sizeof(float4));
    reverse48<<<16, 64>>>(in, out, done);
    return cudaDeviceSynchronize() != cudaSuccess;
}
