// SPDX-License-Identifier: Apache-2.0
// The sequential version: the tile of the pipelined one with a single slot, so that no copy overlaps a
// product.
#include "gemm_cp_async/tile.h"

namespace handoff::kernels::gemm_cp_async {
namespace {

// Any number of steps; a tile at the corner of odd sizes.
// handoff: launch block=256 grid=1 m=128 n=256 k=4096 lda=4096 ldb=4096 ldc=256
// handoff: launch block=256 grid=1 m=100 n=201 k=150 lda=152 ldb=152 ldc=208 steps=5
__global__ void __launch_bounds__(kThreads, 1)
    gemmSequential(const __nv_bfloat16* a, const __nv_bfloat16* b, __nv_bfloat16* c, int m, int n, int k,
                   int lda, int ldb, int ldc, int steps) {
  const GemmProblem problem{m, n, k, lda, ldb, ldc, a, b, c};
  __shared__ alignas(128) unsigned char slot[kSlotBytes];
  const TileIndex tile = tileOfBlock();
  const Copies copies(problem, tile);

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

cudaError_t launchSequential(const GemmProblem& problem, cudaStream_t stream) {
  gemmSequential<<<gridOf(problem), kThreads, 0, stream>>>(problem.a, problem.b, problem.c, problem.m,
                                                           problem.n, problem.k, problem.lda, problem.ldb,
                                                           problem.ldc, stepsOf(problem));
  return cudaGetLastError();
}

const void* sequentialFunction() { return reinterpret_cast<const void*>(gemmSequential); }

}  // namespace handoff::kernels::gemm_cp_async
