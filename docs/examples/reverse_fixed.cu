#include <cuda_pipeline.h>

__global__ void reverse(const float4* in, float4* out) {
    __shared__ float4 tile[128];
    const int t = threadIdx.x, first = blockIdx.x * 128;
    __pipeline_memcpy_async(&tile[t], &in[first + t], sizeof(float4));
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
    out[first + t] = tile[127 - t];
}

void reverseTiles(const float4* in, float4* out, int tiles) { reverse<<<tiles, 128>>>(in, out); }
