// SPDX-License-Identifier: Apache-2.0
// Each element less its right neighbour.
#include "tile.cuh"

__global__ void difference(const float4* in, float4* out) {
  __shared__ float4 row[TILE];
  const unsigned t = threadIdx.x, i = blockIdx.x * TILE + t;
  fetch(&row[t], &in[i]);
  commit();
  await<0>();
  __syncthreads();
  const float4 own = row[t], right = row[(t + 1) % TILE];
  out[i] = make_float4(own.x - right.x, own.y - right.y, own.z - right.z, own.w - right.w);
}

void runDifference(const float4* in, float4* out, int tiles) { difference<<<tiles, TILE>>>(in, out); }
