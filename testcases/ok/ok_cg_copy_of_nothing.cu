// Kernel:   a double buffer with cooperative_groups::memcpy_async; the last turn copies nothing, to keep the number
//           of groups.
// Launch:   grid 12, block 128, static shared memory only, tiles = 7
// Target:   sm_80
// Expected finding: none
// Line:     -
// Why:      memcpy_async commits a group also when it copies nothing, so wait_prior<1> always leaves just the copy
//           of the next tile pending.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cstdint>
#include <cuda_runtime.h>

namespace cg = cooperative_groups;

__global__ void double_buffer(const float* in, float* out, int tiles) {
    __shared__ alignas(16) float tile[2][256];
    const auto block = cg::this_thread_block();
    const int t = threadIdx.x;
    const float* src = in + blockIdx.x * tiles * 256;

    cg::memcpy_async(block, tile[0], src, sizeof(tile[0]));
    float sum = 0.f;
    for (int k = 0; k < tiles; ++k) {
        const int bytes = k + 1 < tiles ? sizeof(tile[0]) : 0;
        cg::memcpy_async(block, tile[(k + 1) % 2], src + (k + 1) * 256, bytes);
        cg::wait_prior<1>(block);
        sum += tile[k % 2][255 - t] + tile[k % 2][t];
        block.sync();
    }
    out[blockIdx.x * 128 + t] = sum;
}

int main() {
    float *in, *out;
    cudaMalloc(&in, 12 * 7 * 256 * sizeof(float));
    cudaMalloc(&out, 12 * 128 * sizeof(float));
    cudaMemset(in, 0, 12 * 7 * 256 * sizeof(float));
    double_buffer<<<12, 128>>>(in, out, 7);
    return cudaDeviceSynchronize() != cudaSuccess;
}
