// Kernel:   64 rows of four floats: each thread brings in one row, then passes on the row of the next thread, of
//           which the even ones are replaced by a copy.
// Launch:   grid 1, block 64, static shared memory only
// Target:   sm_80
// Expected finding: none
// Line:     -
// Why:      odd threads issue no copy and need no wait; an even thread stores its row before it issues the copy,
//           which is ordered, and waits.
#include <cstdint>
#include <cuda_runtime.h>

__device__ __forceinline__ uint32_t smem_addr(const void* p) {
    return static_cast<uint32_t>(__cvta_generic_to_shared(p));
}
__device__ __forceinline__ void cp_async16_if(bool pred, void* dst, const void* src) {
    asm volatile("{ .reg .pred p; setp.ne.b32 p, %0, 0; @p cp.async.cg.shared.global [%1], [%2], 16; }"
                 ::"r"(static_cast<int>(pred)), "r"(smem_addr(dst)), "l"(src) : "memory");
}
__device__ __forceinline__ void cp_async_commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int N>
__device__ __forceinline__ void cp_async_wait() {
    asm volatile("cp.async.wait_group %0;" ::"n"(N) : "memory");
}

__global__ void row_exchange(const float4* in, float4* out) {
    __shared__ alignas(16) float4 rows[64];
    const int t = threadIdx.x;
    const bool even = t % 2 == 0;

    rows[t] = make_float4(t, 0.f, 0.f, 0.f);
    cp_async16_if(even, &rows[t], &in[t]);
    cp_async_commit();
    if (even) cp_async_wait<0>();
    __syncthreads();
    out[t] = rows[(t + 1) % 64];
}

int main() {
    float4 *in, *out;
    cudaMalloc(&in, 64 * sizeof(float4));
    cudaMalloc(&out, 64 * sizeof(float4));
    cudaMemset(in, 0, 64 * sizeof(float4));
    row_exchange<<<1, 64>>>(in, out);
    return cudaDeviceSynchronize() != cudaSuccess;
}
