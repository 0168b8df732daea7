// Kernel:   cuda::memcpy_async on a block-scope cuda::barrier, with a size aligned to 16 bytes: one thread issues a
//           bulk copy and then announces its bytes.
// Launch:   grid 16, block 128, static shared memory only, tiles = 6
// Target:   sm_90
// Expected finding: none
// Line:     -
// Why:      the announcing thread arrives after it has announced, the barrier counts all 128 threads, and each
//           fences its reads before the block barrier that lets the next copy start.
#include <cooperative_groups.h>
#include <cstdint>
#include <cuda/barrier>
#include <cuda/ptx>
#include <cuda_runtime.h>

#pragma nv_diag_suppress static_var_with_dynamic_init

using block_barrier = cuda::barrier<cuda::thread_scope_block>;

__global__ void tile_sums(const float* in, float* out, int tiles) {
    __shared__ alignas(128) float tile[512];
    __shared__ block_barrier bar;
    const auto block = cooperative_groups::this_thread_block();
    const int t = threadIdx.x;
    if (t == 0) init(&bar, blockDim.x);
    __syncthreads();

    float sum = 0.f;
    for (int k = 0; k < tiles; ++k) {
        const float* src = in + (blockIdx.x * tiles + k) * 512;
        cuda::memcpy_async(block, tile, src, cuda::aligned_size_t<16>(sizeof(tile)), bar);
        bar.arrive_and_wait();
        for (int i = t; i < 512; i += 128) sum += tile[511 - i];
        cuda::ptx::fence_proxy_async(cuda::ptx::space_shared);  // reads before the next bulk write
        __syncthreads();
    }
    out[blockIdx.x * 128 + t] = sum;
}

int main() {
    float *in, *out;
    cudaMalloc(&in, 16 * 6 * 512 * sizeof(float));
    cudaMalloc(&out, 16 * 128 * sizeof(float));
    cudaMemset(in, 0, 16 * 6 * 512 * sizeof(float));
    tile_sums<<<16, 128>>>(in, out, 6);
    return cudaDeviceSynchronize() != cudaSuccess;
}
