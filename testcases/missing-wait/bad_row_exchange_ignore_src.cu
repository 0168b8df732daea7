// Kernel:   64 rows of four floats: each thread brings in one row, then passes on the row of the next thread,
//           zeroing every fourth row with the ignore-src operand.
// Launch:   grid 1, block 64, static shared memory only
// Target:   sm_80
// Expected finding: missing-wait
// Also acceptable: barrier-only-handoff
// Line:     34
// Why:      the threads that ignore their source skip the wait, but their zeros are written asynchronously, too.
#include <cstdint>
#include <cuda_runtime.h>

__device__ __forceinline__ uint32_t smem_addr(const void* p) {
    return static_cast<uint32_t>(__cvta_generic_to_shared(p));
}
__device__ __forceinline__ void cp_async16_ignore_src(void* dst, const void* src, bool ignore) {
    asm volatile("{ .reg .pred p; setp.ne.b32 p, %2, 0; cp.async.cg.shared.global [%0], [%1], 16, p; }"
                 ::"r"(smem_addr(dst)), "l"(src), "r"(static_cast<int>(ignore)) : "memory");
}
__device__ __forceinline__ void cp_async_commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int N>
__device__ __forceinline__ void cp_async_wait() {
    asm volatile("cp.async.wait_group %0;" ::"n"(N) : "memory");
}

__global__ void row_exchange(const float4* in, float4* out) {
    __shared__ alignas(16) float4 rows[64];
    const int t = threadIdx.x;
    const bool blank = t % 4 == 0;

    cp_async16_ignore_src(&rows[t], &in[t], blank);
    cp_async_commit();
    if (!blank) cp_async_wait<0>();
    __syncthreads();
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
