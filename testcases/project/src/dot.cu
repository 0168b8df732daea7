// SPDX-License-Identifier: Apache-2.0
// The products of two rows, added up by the first warp.
#include "tile.cuh"

__global__ void dot(const float4* x, const float4* y, float* out) {
  __shared__ float4 xs[TILE], ys[TILE];
  const unsigned t = threadIdx.x, i = blockIdx.x * TILE + t;
  fetch(&xs[t], &x[i]);
  fetch(&ys[t], &y[i]);
  commit();
  await<0>();
  __syncthreads();
  if (t >= 32) return;
  float sum = 0;
  for (unsigned k = t; k < TILE; k += 32) sum += xs[k].x * ys[k].x + xs[k].y * ys[k].y + xs[k].z * ys[k].z + xs[k].w * ys[k].w;
  out[blockIdx.x * 32 + t] = sum;
}

void runDot(const float4* x, const float4* y, float* out, int tiles) { dot<<<tiles, TILE>>>(x, y, out); }
