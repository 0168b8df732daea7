// SPDX-License-Identifier: Apache-2.0
// Kernel:   a three-stage ring with the __pipeline_* primitives; a 16-bit counter names the slot.
// Target:   sm_80
// Expected verdict: not-verified
// Expected finding: premature-overwrite
// Line:     34
// Sizes:    wrong for tiles >= 65537
// Why:      the counter goes from 65535 to 0, and 65535 % 3 is 0, too: tile 65536 is copied into the slot of
//           tile 65535, which is still in flight.
// wrong-size: tiles=65537
// right-size: tiles=8
#include <cuda_pipeline.h>
#include <cuda_runtime.h>

// handoff: launch block=128
__global__ void short_counter(const float4* in, float* out, int tiles) {
    __shared__ alignas(16) float4 ring[3][128];
    const int t = threadIdx.x;
    const float4* src = in + static_cast<size_t>(blockIdx.x) * tiles * 128 + t;

    for (int s = 0; s < 2; ++s) {
        if (s < tiles) __pipeline_memcpy_async(&ring[s][t], src + s * 128, sizeof(float4));
        __pipeline_commit();
    }
    float sum = 0.f;
    unsigned short counter = 0;
    for (int k = 0; k < tiles; ++k, ++counter) {
        __pipeline_wait_prior(1);
        __syncthreads();
        sum += ring[counter % 3][127 - t].x;
        const unsigned short ahead = counter + 2;
        if (tiles - k > 2) {
            const float4* next = src + static_cast<size_t>(k + 2) * 128;
            __pipeline_memcpy_async(&ring[ahead % 3][t], next, sizeof(float4));  // BUG: premature-overwrite
        }
        __pipeline_commit();
    }
    out[blockIdx.x * 128 + t] = sum;
}
