// Kernel:   a warp reads a row and stores the next one in its place; another warp fills the row, too.
// Launch:   grid 1, block 64, static shared memory only
// Target:   sm_80
// Expected finding: premature-overwrite
// Line:     22
// Why:      named barrier 1 is arrived at before the first warp reads, so the second warp may store while it still does.
//           That the first warp stores there itself afterwards orders nothing.
#include <cuda_runtime.h>

__global__ void two_fillers(const float* in, float* out) {
    __shared__ float row[32];
    const int lane = threadIdx.x % 32;
    if (threadIdx.x < 32) {
        row[lane] = in[lane];
        asm volatile("bar.arrive 1, 64;" ::: "memory");
        out[lane] = row[lane];
        asm volatile("" ::: "memory");
        row[lane] = in[32 + lane];
        asm volatile("bar.sync 2, 64;" ::: "memory");
    } else {
        asm volatile("bar.sync 1, 64;" ::: "memory");
        row[lane] = in[64 + lane];  // BUG: premature-overwrite
        asm volatile("bar.arrive 2, 64;" ::: "memory");
    }
    __syncthreads();
    out[32 + threadIdx.x] = row[lane];
}

int main() {
    float *in, *out;
    cudaMalloc(&in, 96 * sizeof(float));
    cudaMemset(in, 0, 96 * sizeof(float));
    cudaMalloc(&out, 96 * sizeof(float));
    cudaMemset(out, 0, 96 * sizeof(float));
    two_fillers<<<1, 64>>>(in, out);
    return cudaDeviceSynchronize() != cudaSuccess;
}
