// SPDX-License-Identifier: Apache-2.0
// Reverses tiles. With BUGGY the wait is missing: a barrier alone does not complete copies.
#include <handoff/copy_group.h>

#include "tile_shape.h"

__global__ void reverse(const float4* in, float4* out) {
  __shared__ float4 tile[kThreads];
  const int t = threadIdx.x, first = blockIdx.x * kThreads;
  handoff::copyAsync(&tile[t], &in[first + t]);
  handoff::CopyGroups<1> groups;
  groups.commit();
#ifndef BUGGY
  groups.wait<0>();
#endif
  __syncthreads();
  out[first + t] = tile[kThreads - 1 - t];
}

void reverseTiles(const float4* in, float4* out, int tiles) { reverse<<<tiles, kThreads>>>(in, out); }
