// Kernel:   a row of 64 float4 is copied with __pipeline_memcpy_async and passed on.
// Launch:   grid 1, block 64, static shared memory only
// Target:   sm_75
// Audit:    the target has no cp.async: CUDA's own header makes it a load and a store.
#include <cuda_pipeline.h>
#include <cuda_runtime.h>

__global__ void row_exchange(const float4* in, float4* out) {
    __shared__ alignas(16) float4 rows[64];
    const int t = threadIdx.x;

    __pipeline_memcpy_async(&rows[t], &in[t], 16);  // PERF: perf-synchronous-fallback
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
    out[t] = rows[(t + 1) % 64];
}

int main() {
    float4 *in, *out;
    cudaMalloc(&in, 64 * sizeof(float4));
    cudaMalloc(&out, 64 * sizeof(float4));
    row_exchange<<<1, 64>>>(in, out);
    return cudaDeviceSynchronize() != cudaSuccess;
}
