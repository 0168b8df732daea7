// Kernel:   64 rows of four floats: each thread brings in one row, then passes on the row of the next thread,
//           which a copy would replace if its predicate were true.
// Launch:   grid 1, block 64, static shared memory only
// Target:   sm_80
// Expected finding: none
// Line:     -
// Why:      the predicate is false in all 64 threads, so there is no copy to wait for: the stored rows stay and
//           the barrier orders them.
#include <cstdint>
#include <cuda_runtime.h>

__device__ __forceinline__ uint32_t smem_addr(const void* p) {
    return static_cast<uint32_t>(__cvta_generic_to_shared(p));
}
__device__ __forceinline__ void cp_async16_if(bool pred, void* dst, const void* src) {
    asm volatile("{ .reg .pred p; setp.ne.b32 p, %0, 0; @p cp.async.cg.shared.global [%1], [%2], 16; }"
                 ::"r"(static_cast<int>(pred)), "r"(smem_addr(dst)), "l"(src) : "memory");
}

__global__ void row_exchange(const float4* in, float4* out) {
    __shared__ alignas(16) float4 rows[64];
    const int t = threadIdx.x;
    const bool replace = t >= 64;

    rows[t] = make_float4(t, 0.f, 0.f, 0.f);
    cp_async16_if(replace, &rows[t], &in[t]);
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
