// SPDX-License-Identifier: Apache-2.0
// A table that all threads of a block look up in.
#pragma once

#include "tile.cuh"

/// Brings the table into shared memory and returns the entry that the thread asked for.
__device__ inline float4 lookUp(float4* table, const float4* source, unsigned index) {
  fetch(&table[threadIdx.x], &source[threadIdx.x]);
  commit();
  await<0>();
  return table[index % TILE];
}
