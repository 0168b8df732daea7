// SPDX-License-Identifier: Apache-2.0
// The sum over the tiles of a row, two tiles in flight.
#include "tile.cuh"

__global__ void columnSum(const float4* in, float* out, int tiles) {
  __shared__ float4 ring[2][TILE];
  const unsigned t = threadIdx.x;
  fetch(&ring[0][t], &in[t]);
  commit();
  float sum = 0;
  for (int tile = 0; tile < tiles; ++tile) {
    if (tile + 1 < tiles) fetch(&ring[(tile + 1) % 2][t], &in[(tile + 1) * TILE + t]);
    commit();
    await<1>();
    const float4 v = ring[tile % 2][t];
    sum += v.x + v.y + v.z + v.w;
  }
  await<0>();
  out[t] = sum;
}

void runColumnSum(const float4* in, float* out, int tiles) { columnSum<<<1, TILE>>>(in, out, tiles); }
