// SPDX-License-Identifier: Apache-2.0
// The sequential version: the tile of the pipelined one with a single slot, so that no copy overlaps a
// product.
#include "gemm_wgmma/tile.h"

namespace handoff::kernels::gemm_wgmma {
namespace {

constexpr int kThreads = kSequentialThreads;
static_assert(kThreads == kWarpgroups * 128);

extern __shared__ __align__(kSwizzleBytes) unsigned char shared_bytes[];

// handoff: launch block=256 grid=64x64 smem=81936 first_ragged_column=16384
// handoff: launch block=256 grid=1 smem=81936 first_ragged_column=0 m=100 n=200 ldc=200
// handoff: tensormap map_a box=64x128xbf16
// handoff: tensormap map_b box=64x256xbf16
// handoff: tensormap map_c box=64x16xbf16
__global__ void __launch_bounds__(kThreads, 1)
    gemmSequential(const __grid_constant__ CUtensorMap map_a, const __grid_constant__ CUtensorMap map_b,
                   const __grid_constant__ CUtensorMap map_c, int steps, int first_ragged_column,
                   __nv_bfloat16* c, int m, int n, int ldc) {
  auto& shared = *reinterpret_cast<SharedTile<1>*>(shared_bytes);
  const std::uint32_t full = ptx::sharedAddress(&shared.full[0]);
  const std::uint32_t a = ptx::sharedAddress(shared.a[0]), b = ptx::sharedAddress(shared.b[0]);
  const int warp = __shfl_sync(0xffffffff, threadIdx.x / 32, 0);  // the shuffle tells the compiler: uniform
  const int row = blockIdx.y * kTileM, column = blockIdx.x * kTileN;
  if (threadIdx.x == 0) {
    ptx::mbarrierInit(full, 1);
    ptx::fenceMbarrierInit();
  }
  __syncthreads();

  const std::uint64_t descriptor_a = ptx::wgmmaDescriptorSwizzle128(a + warp / 4 * kWarpgroupM * kRowBytes);
  const std::uint64_t descriptor_b = ptx::wgmmaDescriptorSwizzle128(b);
  float sums[kTileN / 2];
  for (int step = 0; step < steps; ++step) {
    if (threadIdx.x == 0) {
      ptx::mbarrierArriveExpectTx(full, kBytesA + kBytesB);
      ptx::tensorLoad2d(a, &map_a, full, step * kTileK, row);
      ptx::tensorLoad2d(b, &map_b, full, step * kTileK, column);
    }
    waitParity(full, step % 2);
    ptx::wgmmaFence();
    multiplyStep(sums, descriptor_a, descriptor_b, step > 0);
    ptx::wgmmaCommit();
    ptx::wgmmaWait<0>();
    __syncthreads();  // everybody's products have read the slot
  }
  if (column < first_ragged_column) {
    storeTile(sums, &map_c, ptx::sharedAddress(shared.strips[warp]), row + warp * kStripM, column);
    if (threadIdx.x % 32 == 0) ptx::bulkWait<0>();
  } else {
    storeElements(sums, Output{c, m, n, ldc}, row + warp * kStripM, column);
  }
}

}  // namespace

cudaError_t launchSequential(const GemmProblem& problem, cudaStream_t stream) {
  constexpr int kSharedBytes = sizeof(SharedTile<1>);
  const cudaError_t status =
      cudaFuncSetAttribute(gemmSequential, cudaFuncAttributeMaxDynamicSharedMemorySize, kSharedBytes);
  if (status != cudaSuccess) return status;
  const Maps maps(problem, kTileM, kTileN);
  if (!maps) return cudaErrorInvalidValue;
  const dim3 grid(tilesOf(problem.n, kTileN), tilesOf(problem.m, kTileM));
  gemmSequential<<<grid, kThreads, kSharedBytes, stream>>>(
      maps.a.map, maps.b.map, maps.c.map, tilesOf(problem.k, kTileK), firstRaggedColumn(problem.n), problem.c,
      problem.m, problem.n, problem.ldc);
  return cudaGetLastError();
}

const void* sequentialFunction() { return reinterpret_cast<const void*>(gemmSequential); }

int sequentialSharedBytes() { return sizeof(SharedTile<1>); }

}  // namespace handoff::kernels::gemm_wgmma
