// SPDX-License-Identifier: Apache-2.0
// Kernel:   a three-stage ring with the __pipeline_* primitives; copies stop two tiles before the end.
// Target:   sm_80
// Expected verdict: violation
// Expected finding: insufficient-wait
// Line:     27
// Sizes:    wrong for tiles >= 2, right for one tile and for none
// Why:      the last turns copy nothing and commit nothing, so a constant count of 1 no longer names the group
//           of the tile that is read.
// wrong-size: tiles=2
// right-size: tiles=1
#include <cuda_pipeline.h>
#include <cuda_runtime.h>

// handoff: launch block=128
__global__ void stage_tiles(const float4* in, float* out, int tiles) {
    __shared__ alignas(16) float4 ring[3][128];
    const int t = threadIdx.x;
    const float4* src = in + static_cast<size_t>(blockIdx.x) * tiles * 128 + t;
    float sum = 0.f;

    for (int s = 0; s < 2; ++s) {
        if (s < tiles) __pipeline_memcpy_async(&ring[s][t], src + s * 128, sizeof(float4));
        __pipeline_commit();
    }
    for (int k = 0; k < tiles; ++k) {
        __pipeline_wait_prior(1);  // BUG: insufficient-wait
        __syncthreads();
        sum += ring[k % 3][127 - t].y;
        if (tiles - k > 2) {
            __pipeline_memcpy_async(&ring[(k + 2) % 3][t], src + static_cast<size_t>(k + 2) * 128, sizeof(float4));
            __pipeline_commit();
        }
    }
    out[blockIdx.x * 128 + t] = sum;
}
