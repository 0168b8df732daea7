// SPDX-License-Identifier: Apache-2.0
// The table turned by two entries.
#include "indexed.cuh"

__global__ void gather(const float4* table, float4* out) {
  __shared__ float4 entries[TILE];
  const unsigned i = blockIdx.x * TILE + threadIdx.x;
  out[i] = lookUp(entries, table, threadIdx.x + 2);
}

void runGather(const float4* table, float4* out, int tiles) { gather<<<tiles, TILE>>>(table, out); }
