// Kernel:   half of the block produces and half consumes through a two-stage block-scope cuda::pipeline; both
//           halves leave it with quit().
// Launch:   grid 12, block 128, static shared memory only, tiles = 6
// Target:   sm_80
// Expected finding: none
// Line:     -
// Why:      the last thread that quits invalidates the barriers of the pipeline; the library counts the others, and
//           their last operations come before.
#include <cooperative_groups.h>
#include <cstdint>
#include <cuda/pipeline>
#include <cuda_runtime.h>

#pragma nv_diag_suppress static_var_with_dynamic_init

namespace cg = cooperative_groups;

__global__ void halves(const float4* in, float* out, int tiles) {
    __shared__ alignas(16) float4 stage[2][64];
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
    const auto block = cg::this_thread_block();
    const bool produces = threadIdx.x < 64;
    const auto role = produces ? cuda::pipeline_role::producer : cuda::pipeline_role::consumer;
    auto pipe = cuda::make_pipeline(block, &state, role);
    const int t = threadIdx.x % 64;

    float sum = 0.f;
    for (int k = 0; k < tiles; ++k) {
        if (produces) {
            pipe.producer_acquire();
            cuda::memcpy_async(&stage[k % 2][t], &in[(blockIdx.x * tiles + k) * 64 + t], sizeof(float4), pipe);
            pipe.producer_commit();
        } else {
            pipe.consumer_wait();
            sum += stage[k % 2][63 - t].x;
            pipe.consumer_release();
        }
    }
    pipe.quit();
    if (!produces) out[blockIdx.x * 64 + t] = sum;
}

int main() {
    float4* in;
    float* out;
    cudaMalloc(&in, 12 * 6 * 64 * sizeof(float4));
    cudaMalloc(&out, 12 * 64 * sizeof(float));
    cudaMemset(in, 0, 12 * 6 * 64 * sizeof(float4));
    halves<<<12, 128>>>(in, out, 6);
    return cudaDeviceSynchronize() != cudaSuccess;
}
