// Kernel:   32 rows of a matrix with a pitch of 33 floats are staged word by word.
// Launch:   grid 8, block 256, static shared memory only, pitch = 33
// Target:   sm_80
// Expected finding: none
// Line:     -
// Why:      a copy of 4 bytes needs an alignment of 4 on both sides, which every float has.
#include <cstdint>
#include <cuda_runtime.h>

__device__ __forceinline__ uint32_t smem_addr(const void* p) {
    return static_cast<uint32_t>(__cvta_generic_to_shared(p));
}
__device__ __forceinline__ void cp_async4(void* dst, const void* src) {
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(smem_addr(dst)), "l"(src) : "memory");
}
__device__ __forceinline__ void cp_async_commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int N>
__device__ __forceinline__ void cp_async_wait() {
    asm volatile("cp.async.wait_group %0;" ::"n"(N) : "memory");
}

__global__ void row_sums(const float* in, float* out, int pitch) {
    __shared__ alignas(16) float tile[32 * 32];

    for (int i = threadIdx.x; i < 32 * 32; i += 256) {
        const int row = i / 32;
        const int col = i % 32;
        cp_async4(&tile[row * 32 + col], &in[(blockIdx.x * 32 + row) * pitch + col]);
    }
    cp_async_commit();
    cp_async_wait<0>();
    __syncthreads();

    if (threadIdx.x < 32) {
        float sum = 0.f;
        for (int c = 0; c < 32; ++c) sum += tile[threadIdx.x * 32 + c];
        out[blockIdx.x * 32 + threadIdx.x] = sum;
    }
}

int main() {
    float *in, *out;
    cudaMalloc(&in, 8 * 32 * 33 * sizeof(float));
    cudaMalloc(&out, 8 * 32 * sizeof(float));
    cudaMemset(in, 0, 8 * 32 * 33 * sizeof(float));
    row_sums<<<8, 256>>>(in, out, 33);
    return cudaDeviceSynchronize() != cudaSuccess;
}
