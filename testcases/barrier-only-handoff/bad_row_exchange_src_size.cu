// Kernel:   64 rows of four floats: each thread brings in one row, then passes on the row of the next thread, of
//           which the last is cut short by the source-size operand.
// Launch:   grid 1, block 64, static shared memory only
// Target:   sm_80
// Expected finding: barrier-only-handoff
// Also acceptable: missing-wait
// Line:     29
// Why:      copied and zero-filled bytes alike arrive asynchronously, and only a barrier stands before the read.
#include <cstdint>
#include <cuda_runtime.h>

__device__ __forceinline__ uint32_t smem_addr(const void* p) {
    return static_cast<uint32_t>(__cvta_generic_to_shared(p));
}
__device__ __forceinline__ void cp_async16_zfill(void* dst, const void* src, int src_bytes) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(smem_addr(dst)), "l"(src), "r"(src_bytes)
                 : "memory");
}
__device__ __forceinline__ void cp_async_commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }

__global__ void row_exchange(const float4* in, float4* out) {
    __shared__ alignas(16) float4 rows[64];
    const int t = threadIdx.x;
    const int bytes = t < 63 ? 16 : 8;

    cp_async16_zfill(&rows[t], &in[t], bytes);
    cp_async_commit();
    __syncthreads();
    out[t] = rows[(t + 1) % 64];  // BUG: barrier-only-handoff
}

int main() {
    float4 *in, *out;
    cudaMalloc(&in, 64 * sizeof(float4));
    cudaMalloc(&out, 64 * sizeof(float4));
    cudaMemset(in, 0, 64 * sizeof(float4));
    row_exchange<<<1, 64>>>(in, out);
    return cudaDeviceSynchronize() != cudaSuccess;
}
