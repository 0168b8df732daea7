// Kernel:   64 rows of four floats: each thread brings in one row, then passes on the row of the next thread
//           (ordinary loads and stores).
// Launch:   grid 1, block 64, static shared memory only
// Target:   sm_80
// Expected finding: none
// Line:     -
// Why:      no copy is asynchronous; the barrier alone hands the rows over.
#include <cstdint>
#include <cuda_runtime.h>



__global__ void row_exchange(const float4* in, float4* out) {
    __shared__ alignas(16) float4 rows[64];
    const int t = threadIdx.x;
    rows[t] = in[t];
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
