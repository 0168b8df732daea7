// Kernel:   64 rows of four floats: each thread brings in one row, then passes on the row of the next thread.
// Launch:   grid 1, block 64, static shared memory only
// Target:   sm_80
// Expected finding: missing-wait
// Also acceptable: missing-barrier
// Line:     25
// Why:      nothing waits for the copies and nothing orders the threads: a row is read while its copy may be in
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

__global__ void row_exchange(const float4* in, float4* out) {
    __shared__ alignas(16) float4 rows[64];
    const int t = threadIdx.x;
    cp_async16(&rows[t], &in[t]);
    cp_async_commit();
    out[t] = rows[(t + 1) % 64];  // BUG: missing-wait
}

int main() {
    float4 *in, *out;
    cudaMalloc(&in, 64 * sizeof(float4));
    cudaMalloc(&out, 64 * sizeof(float4));
    cudaMemset(in, 0, 64 * sizeof(float4));
    row_exchange<<<1, 64>>>(in, out);
    return cudaDeviceSynchronize() != cudaSuccess;
}
