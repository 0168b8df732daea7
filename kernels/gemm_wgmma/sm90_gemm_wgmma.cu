// SPDX-License-Identifier: Apache-2.0
// The pipelined version: clusters of two blocks that stay for all tiles; in each block a producer that feeds
// a ring of slots by TMA, and two warpgroups that multiply.
//
// The blocks of a cluster make tiles that lie below each other. Each loads its own rows of a, and one half of
// the rows of b, which it multicasts to both. Steps are counted on from tile to tile; step i uses slot i %
// kStages:
//   full[slot]   one arrival, of this block's producer, and the bytes of a and b. Half of b comes from the
//   other
//                block, whose producer may be ahead: its bytes may arrive before this block's producer
//                  announced them, but not in an older phase, since it waits for this block's consumers, too.
//   empty[slot]  one arrival of each consumer warp of both blocks, since a refill writes to both: when the
//   warp's own
//                wait says that the products which read the slot are complete. The next step's products are
//                already queued by then.
// What empty hands over is shared memory and nothing else, so its arrivals are relaxed, behind a fence that
// is restricted to shared memory. With mbarrier.arrive.release.cluster in their place, consumers wait for the
// whole device at every step, and the kernel takes a third longer.
#include "gemm_wgmma/tile.h"
#include "handoff/ptx/cluster.h"
#include "handoff/ptx/cluster_handoff.h"
#include "handoff/ptx/setmaxnreg.h"

namespace handoff::kernels::gemm_wgmma {
namespace {

constexpr int kClusterBlocks = 2;
constexpr int kThreads = kPipelinedThreads;
static_assert(kThreads == (1 + kWarpgroups) * 128);  // warpgroup 0 is the producer's
constexpr int kProducerRegisters = 40, kConsumerRegisters = 232;
constexpr int kRowsOfB = kTileN / kClusterBlocks;  // that one block loads

extern __shared__ __align__(kSwizzleBytes) unsigned char shared_bytes[];

/// A slot, and the parity of the phase of its barriers that comes next.
template <int kStages>
struct Cursor {
  int slot = 0;
  std::uint32_t parity = 0;

  __device__ __forceinline__ void advance() {
    if (++slot < kStages) return;
    slot = 0;
    parity ^= 1;
  }
};

/// The work of the cluster: `steps` steps for each of the pairs of tiles.
struct Work {
  int pairs_m, tiles_n, raster_width, steps;
  int first_ragged_column;  // tiles from this column of c on are stored element by element

  __device__ __forceinline__ int pairs() const { return pairs_m * tiles_n; }
};

__device__ __forceinline__ int firstPair() { return blockIdx.x / kClusterBlocks; }
__device__ __forceinline__ int clusters() { return gridDim.x / kClusterBlocks; }

struct Origin {
  int row, column;  // of a tile of c
};

/// Pairs of tiles are numbered through bands of raster_width tile columns, row by row, so that the clusters
/// that run together share rows of a and of b.
__device__ __forceinline__ Origin originOf(int pair, const Work& work, int rank) {
  const int band_pairs = work.pairs_m * work.raster_width;
  const int first_n = pair / band_pairs * work.raster_width;
  const int width = min(work.raster_width, work.tiles_n - first_n);
  const int inside = pair % band_pairs;
  return {(inside / width * kClusterBlocks + rank) * kTileM, (first_n + inside % width) * kTileN};
}

/// One thread.
template <int kStages>
__device__ __forceinline__ void produce(SharedTile<kStages>& shared, const CUtensorMap& map_a,
                                        const CUtensorMap& map_b, const Work& work) {
  const int rank = ptx::clusterRank();
  Cursor<kStages> cursor;
  for (int pair = firstPair(); pair < work.pairs(); pair += clusters()) {
    const Origin origin = originOf(pair, work, rank);
    for (int step = 0; step < work.steps; ++step) {
      const std::uint32_t full = ptx::sharedAddress(&shared.full[cursor.slot]);
      const std::uint32_t empty = ptx::sharedAddress(&shared.empty[cursor.slot]);
      while (!ptx::mbarrierTryWaitParityClusterRelaxed(empty, cursor.parity ^ 1)) {
      }
      ptx::fenceAcquireSharedCluster();
      ptx::mbarrierArriveExpectTx(full, kBytesA + kBytesB);
      ptx::tensorLoad2d(ptx::sharedAddress(shared.a[cursor.slot]), &map_a, full, step * kTileK, origin.row);
      ptx::tensorLoadMulticast2d(ptx::sharedAddress(shared.b[cursor.slot]) + rank * kRowsOfB * kRowBytes,
                                 &map_b, full, step * kTileK, origin.column + rank * kRowsOfB,
                                 (1 << kClusterBlocks) - 1);
      cursor.advance();
    }
  }
}

/// Tells the producers of both blocks that this warp has done with a slot.
__device__ __forceinline__ void release(std::uint32_t empty) {
  const std::uint32_t lane = threadIdx.x % 32;
  if (lane < kClusterBlocks) {
    ptx::fenceReleaseShared();
    ptx::mbarrierArriveClusterRelaxed(ptx::mapa(empty, lane));
  }
}

template <int kStages>
__device__ __forceinline__ void consume(SharedTile<kStages>& shared, const CUtensorMap& map_c,
                                        const Work& work, const Output& output) {
  const int rank = ptx::clusterRank();
  const int warp =
      __shfl_sync(0xffffffff, threadIdx.x / 32, 0) - 4;  // the shuffle tells the compiler: uniform
  const std::uint64_t a =
      ptx::wgmmaDescriptorSwizzle128(ptx::sharedAddress(shared.a) + warp / 4 * kWarpgroupM * kRowBytes);
  const std::uint64_t b = ptx::wgmmaDescriptorSwizzle128(ptx::sharedAddress(shared.b));
  Cursor<kStages> cursor;
  float sums[kTileN / 2];
  for (int pair = firstPair(); pair < work.pairs(); pair += clusters()) {
    int last_slot = 0;
    for (int step = 0; step < work.steps; ++step) {
      waitParity(ptx::sharedAddress(&shared.full[cursor.slot]), cursor.parity);
      ptx::wgmmaFence();
      multiplyStep(sums, a + (cursor.slot * kBytesA >> 4), b + (cursor.slot * kBytesB >> 4), step > 0);
      ptx::wgmmaCommit();
      ptx::wgmmaWait<1>();
      if (step > 0) release(ptx::sharedAddress(&shared.empty[last_slot]));
      last_slot = cursor.slot;
      cursor.advance();
    }
    ptx::wgmmaWait<0>();
    release(ptx::sharedAddress(&shared.empty[last_slot]));
    const Origin origin = originOf(pair, work, rank);
    const int row = origin.row + warp * kStripM;
    if (origin.column < work.first_ragged_column) {
      storeTile(sums, &map_c, ptx::sharedAddress(shared.strips[warp]), row, origin.column);
    } else {
      storeElements(sums, output, row, origin.column);
    }
  }
  if (threadIdx.x % 32 == 0) ptx::bulkWait<0>();
  __syncwarp();
}

// One tile of any depth; many tiles of all clusters; four tiles of one cluster, two of them ragged.
// clang-format off
// handoff: launch block=384 grid=2 smem=229440 pairs_m=1 tiles_n=1 raster_width=8 first_ragged_column=256
// handoff: launch block=384 grid=8 smem=229440 pairs_m=3 tiles_n=3 raster_width=2 steps=5 first_ragged_column=768
// handoff: launch block=384 grid=2 smem=229440 pairs_m=2 tiles_n=2 raster_width=1 steps=3 first_ragged_column=256 m=300 n=300 ldc=304
// clang-format on
// handoff: tensormap map_a box=64x128xbf16
// handoff: tensormap map_b box=64x128xbf16
// handoff: tensormap map_c box=64x16xbf16
template <int kStages>
__global__ void __cluster_dims__(kClusterBlocks) __launch_bounds__(kThreads, 1)
    gemmPipelined(const __grid_constant__ CUtensorMap map_a, const __grid_constant__ CUtensorMap map_b,
                  const __grid_constant__ CUtensorMap map_c, int pairs_m, int tiles_n, int raster_width,
                  int steps, int first_ragged_column, __nv_bfloat16* c, int m, int n, int ldc) {
  const Work work{pairs_m, tiles_n, raster_width, steps, first_ragged_column};
  const Output output{c, m, n, ldc};
  auto& shared = *reinterpret_cast<SharedTile<kStages>*>(shared_bytes);
  if (threadIdx.x == 0) {
    for (int slot = 0; slot < kStages; ++slot) {
      ptx::mbarrierInit(ptx::sharedAddress(&shared.full[slot]), 1);
      ptx::mbarrierInit(ptx::sharedAddress(&shared.empty[slot]), kWarps * kClusterBlocks);
    }
    ptx::fenceMbarrierInit();
  }
  __syncwarp();
  ptx::clusterArrive();
  ptx::clusterWait();  // the barriers of both blocks are there

  if (threadIdx.x < 128) {
    ptx::decreaseRegisters<kProducerRegisters>();
    if (threadIdx.x == 0) produce(shared, map_a, map_b, work);
    __syncwarp();
  } else {
    ptx::increaseRegisters<kConsumerRegisters>();
    consume(shared, map_c, work, output);
  }
  // A block's memory has to last until the other one's copies into it and arrivals at its barriers are over.
  // Copies are waited for by this block's consumers, arrivals come before the other block's arrival here.
  ptx::clusterArrive();
  ptx::clusterWait();
}

template <int kStages>
cudaError_t launch(const GemmProblem& problem, int raster_width, cudaStream_t stream) {
  constexpr int kSharedBytes = sizeof(SharedTile<kStages>);
  int device = 0, multiprocessors = 0;
  cudaError_t status = cudaGetDevice(&device);
  if (status == cudaSuccess)
    status = cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device);
  if (status == cudaSuccess)
    status = cudaFuncSetAttribute(gemmPipelined<kStages>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                  kSharedBytes);
  if (status != cudaSuccess) return status;
  const Maps maps(problem, kTileM, kRowsOfB);
  if (!maps) return cudaErrorInvalidValue;

  const int pairs_m = tilesOf(problem.m, kTileM * kClusterBlocks), tiles_n = tilesOf(problem.n, kTileN);
  const int grid = kClusterBlocks * min(pairs_m * tiles_n, multiprocessors / kClusterBlocks);
  gemmPipelined<kStages><<<grid, kThreads, kSharedBytes, stream>>>(
      maps.a.map, maps.b.map, maps.c.map, pairs_m, tiles_n, raster_width, tilesOf(problem.k, kTileK),
      firstRaggedColumn(problem.n), problem.c, problem.m, problem.n, problem.ldc);
  return cudaGetLastError();
}

}  // namespace

cudaError_t launchPipelined(const GemmProblem& problem, int stages, int raster_width, cudaStream_t stream) {
  static_assert(kMinStages == 2 && kMaxStages == 4, "one instance for each number of stages");
  switch (stages) {
    case 2:
      return launch<2>(problem, raster_width, stream);
    case 3:
      return launch<3>(problem, raster_width, stream);
    case 4:
      return launch<4>(problem, raster_width, stream);
    default:
      return cudaErrorInvalidValue;
  }
}

const void* pipelinedFunction(int stages) {
  switch (stages) {
    case 2:
      return reinterpret_cast<const void*>(gemmPipelined<2>);
    case 3:
      return reinterpret_cast<const void*>(gemmPipelined<3>);
    case 4:
      return reinterpret_cast<const void*>(gemmPipelined<4>);
    default:
      return nullptr;
  }
}

int pipelinedSharedBytes(int stages) {
  return stages == 2 ? sizeof(SharedTile<2>) : stages == 3 ? sizeof(SharedTile<3>) : sizeof(SharedTile<4>);
}

}  // namespace handoff::kernels::gemm_wgmma
