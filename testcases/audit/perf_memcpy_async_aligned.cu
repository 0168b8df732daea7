// Kernel:   a block copies a chunk of ints with cooperative_groups::memcpy_async, computes, waits, and reads it.
// Launch:   grid 4, block 128, static shared memory only
// Target:   sm_80
// Audit:    silent: the alignment of int is enough for cp.async of 4 bytes, and work lies before the wait.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cuda_runtime.h>

namespace cg = cooperative_groups;

__global__ void chunk_sum(const int* in, const float* other, float* out) {
    __shared__ alignas(16) int chunk[256];
    const cg::thread_block block = cg::this_thread_block();
    const int t = threadIdx.x;

    cg::memcpy_async(block, chunk, in + blockIdx.x * 256, sizeof(chunk));  // BECOMES: cp.async.ca, 4 bytes
    float x = other[blockIdx.x * 128 + t];
    for (int i = 0; i < 4; ++i) x = x * x + 0.5f;
    cg::wait(block);
    out[blockIdx.x * 128 + t] = x + static_cast<float>(chunk[t] + chunk[255 - t]);
}

int main() {
    int* in;
    float *other, *out;
    cudaMalloc(&in, 4 * 256 * sizeof(int));
    cudaMalloc(&other, 4 * 128 * sizeof(float));
    cudaMalloc(&out, 4 * 128 * sizeof(float));
    chunk_sum<<<4, 128>>>(in, other, out);
    return cudaDeviceSynchronize() != cudaSuccess;
}
