// Kernel:   a four-slot cp.async ring with three tiles in flight: the prologue and the loop leave two groups
//           pending, the last turns one and none.
// Launch:   grid 16, block 128, static shared memory only
// Target:   sm_80
// Expected finding: insufficient-wait
// Line:     45
// Why:      no copy was issued after tile 7, so at tile 6 only one group may stay pending; wait_group 2 leaves the
//           group of tile 6 itself.
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

__global__ void deep_ring(const float4* in, float* out) {
    __shared__ alignas(16) float4 ring[4][128];
    const int t = threadIdx.x;
    const float4* src = in + blockIdx.x * 8 * 128;

    for (int k = 0; k < 3; ++k) {
        cp_async16(&ring[k][t], &src[k * 128 + t]);
        cp_async_commit();
    }
    cp_async_wait<2>();
    __syncthreads();
    float sum = ring[0][t ^ 32].x;
    for (int k = 1; k < 6; ++k) {
        cp_async16(&ring[(k + 2) % 4][t], &src[(k + 2) * 128 + t]);  // the slot of tile k - 2
        cp_async_commit();
        cp_async_wait<2>();
        __syncthreads();
        sum += ring[k % 4][t ^ 32].x;
    }
    cp_async_wait<2>();
    __syncthreads();
    sum += ring[2][t ^ 32].x;  // BUG: insufficient-wait
    cp_async_wait<0>();
    __syncthreads();
    out[blockIdx.x * 128 + t] = sum + ring[3][t ^ 32].x;
}

int main() {
    float4* in;
    float* out;
    cudaMalloc(&in, 16 * 8 * 128 * sizeof(float4));
    cudaMalloc(&out, 16 * 128 * sizeof(float));
    cudaMemset(in, 0, 16 * 8 * 128 * sizeof(float4));
    deep_ring<<<16, 128>>>(in, out);
    return cudaDeviceSynchronize() != cudaSuccess;
}
