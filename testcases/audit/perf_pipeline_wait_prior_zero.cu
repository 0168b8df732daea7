// Kernel:   double buffer with __pipeline_* primitives; the next tile is issued before the wait for this one, and every
//           iteration commits, the last one an empty group.
// Launch:   grid 8, block 64, static shared memory only, tiles = 10
// Target:   sm_80
// Audit:    __pipeline_wait_prior(0) waits for the tile that was issued a line above; (1) would do. With (0) no work
//           lies between its issue and the wait, either.
#include <cuda_pipeline.h>
#include <cuda_runtime.h>

__global__ void pair_sum(const float4* in, float* out, int tiles) {
    __shared__ alignas(16) float4 buf[2][64];
    const int t = threadIdx.x;
    const float4* src = in + blockIdx.x * tiles * 64;

    if (tiles > 0) __pipeline_memcpy_async(&buf[0][t], &src[t], 16);  // BECOMES: cp.async.cg, 16 bytes
    __pipeline_commit();

    float sum = 0.f;
    for (int k = 0; k < tiles; ++k) {
        if (k + 1 < tiles) {
            __pipeline_memcpy_async(&buf[(k + 1) & 1][t], &src[(k + 1) * 64 + t], 16);  // BECOMES: cp.async.cg, 16 bytes
        }
        __pipeline_commit();
        __pipeline_wait_prior(0);  // PERF: perf-over-wait perf-no-overlap
        __syncthreads();
        const float4 v = buf[k & 1][t ^ 32];
        sum += v.x + v.y + v.z + v.w;
        __syncthreads();
    }
    out[blockIdx.x * 64 + t] = sum;
}

int main() {
    float4* in;
    float* out;
    cudaMalloc(&in, 8 * 10 * 64 * sizeof(float4));
    cudaMalloc(&out, 8 * 64 * sizeof(float));
    pair_sum<<<8, 64>>>(in, out, 10);
    return cudaDeviceSynchronize() != cudaSuccess;
}
