// SPDX-License-Identifier: Apache-2.0
// The sequential version: the tile of the pipelined one with a single slot, so that no copy overlaps a product.
#include "kernels/gemm_cp_async/tile.h"

namespace handoff::kernels::gemm_cp_async {
namespace {

__global__ void __launch_bounds__(kThreads, 1) gemmSequential(Problem problem, int tiles_m, int tiles_n) {
  __shared__ alignas(128) unsigned char slot[kSlotBytes];
  const TileIndex tile = tileOfBlock(blockIdx.x, tiles_m, tiles_n);
  const Copies copies(problem, tile);
  const int steps = (problem.k + kTileK - 1) / kTileK;

  WarpTile warp_tile;
  Fragments fragments[2];
  for (int step = 0; step < steps; ++step) {
    copies.issue(step, ptx::sharedAddress(slot));
    ptx::cpAsyncCommit();
    ptx::cpAsyncWait<0>();
    __syncthreads();
#pragma unroll
    for (int part = 0; part < kParts; ++part) {
      warp_tile.load(fragments[part % 2], ptx::sharedAddress(slot), part);
      warp_tile.multiply(fragments[part % 2]);
    }
    __syncthreads();  // everybody has read the slot
  }
  warp_tile.store(problem, tile);
}

}  // namespace

cudaError_t launchSequential(const Problem& problem, cudaStream_t stream) {
  const int tiles_m = tilesOf(problem.m, kTileM), tiles_n = tilesOf(problem.n, kTileN);
  gemmSequential<<<tiles_m * tiles_n, kThreads, 0, stream>>>(problem, tiles_m, tiles_n);
  return cudaGetLastError();
}

}  // namespace handoff::kernels::gemm_cp_async
