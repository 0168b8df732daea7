// Kernel:   a block copies a chunk of 16-bit values, behind a header of one such value, with memcpy_async.
// Launch:   grid 4, block 128, static shared memory only
// Target:   sm_80
// Audit:    source and destination are two bytes off each other, and cp.async needs four: the function finds out when it
//           runs, and copies with loads and stores.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cuda_runtime.h>

namespace cg = cooperative_groups;

__global__ void chunk_sum(const short* in, int* out) {
    __shared__ short chunk[256];
    const cg::thread_block block = cg::this_thread_block();
    const int t = threadIdx.x;

    cg::memcpy_async(block, chunk, in + 1 + blockIdx.x * 256, sizeof(chunk));  // PERF: perf-synchronous-fallback
    cg::wait(block);
    out[blockIdx.x * 128 + t] = chunk[t] + chunk[255 - t];
}

int main() {
    short* in;
    int* out;
    cudaMalloc(&in, (1 + 4 * 256) * sizeof(short));
    cudaMalloc(&out, 4 * 128 * sizeof(int));
    chunk_sum<<<4, 128>>>(in, out);
    return cudaDeviceSynchronize() != cudaSuccess;
}
