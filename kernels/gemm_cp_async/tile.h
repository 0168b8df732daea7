// SPDX-License-Identifier: Apache-2.0
// What both versions share: the tile of a block, its copies, its products and its epilogue.
//
// A block of 8 warps makes 128x256 elements of c, in steps of 32 along k; a warp makes 64x64 of them. A slot holds the
// 128 rows of a and the 256 rows of b of one step, each 64 bytes long: four chunks of 16 bytes. Chunk c of row r lies
// at chunk c ^ (r / 2 % 4), so that the eight rows that an ldmatrix reads at a time fall into different banks.
#pragma once

#include <cstdint>

#include "handoff/ptx/address.h"
#include "handoff/ptx/cp_async.h"
#include "handoff/ptx/ldmatrix.h"
#include "handoff/ptx/mma.h"
#include "kernels/gemm_cp_async/gemm_cp_async.h"

namespace handoff::kernels::gemm_cp_async {

inline constexpr int kTileM = 128, kTileN = 256, kTileK = 32;
inline constexpr int kWarpM = 64, kWarpN = 64;
inline constexpr int kThreads = kTileM / kWarpM * (kTileN / kWarpN) * 32;
inline constexpr int kRowBytes = kTileK * 2;
inline constexpr int kChunkBytes = 16, kChunkElements = 8;
inline constexpr int kSlotBytes = (kTileM + kTileN) * kRowBytes;
inline constexpr int kParts = kTileK / 16;  // an mma takes 16 columns of a and b
inline constexpr int kRasterWidth = 8;      // tiles of n that are worked on together, for the sake of L2

static_assert(kThreads == 256, "the copies below are shared out among 256 threads");

struct TileIndex {
  int m, n;
};

/// Blocks go through bands of kRasterWidth tile columns, so that those that run together share rows of a and of b.
__device__ __forceinline__ TileIndex tileOfBlock(int block, int tiles_m, int tiles_n) {
  const int band_tiles = tiles_m * kRasterWidth;
  const int first_n = block / band_tiles * kRasterWidth;
  const int width = min(kRasterWidth, tiles_n - first_n);
  const int inside = block % band_tiles;
  return {inside / width, first_n + inside % width};
}

/// The copies of one thread: chunk t % 4 of the rows t / 4, t / 4 + 64, ... of both operands.
class Copies {
 public:
  __device__ __forceinline__ Copies(const Problem& problem, TileIndex tile)
      : a_(problem.a), b_(problem.b), lda_(problem.lda), ldb_(problem.ldb) {
    const int row = threadIdx.x / 4, chunk = threadIdx.x % 4;
    column_ = chunk * kChunkElements;
    k_ = problem.k;
    row_a_ = tile.m * kTileM + row;
    row_b_ = tile.n * kTileN + row;
    m_ = problem.m;
    n_ = problem.n;
    dst_ = row * kRowBytes + (chunk ^ (row / 2 % 4)) * kChunkBytes;
  }

  /// Issues the copies of step `step` into the slot. What lies outside the matrices becomes zero; such a copy reads
  /// nothing and is given the start of the matrix as its source.
  __device__ __forceinline__ void issue(int step, std::uint32_t slot) const {
    const int column = step * kTileK + column_;
    const int in_row = max(0, min(kChunkElements, k_ - column)) * 2;  // bytes of the chunk that exist
#pragma unroll
    for (int i = 0; i < kTileM / kRowsAtATime; ++i) {
      copyRow(slot + dst_ + i * kRowsAtATime * kRowBytes, a_, row_a_ + i * kRowsAtATime, m_, lda_, column, in_row);
    }
#pragma unroll
    for (int i = 0; i < kTileN / kRowsAtATime; ++i) {
      copyRow(slot + dst_ + (kTileM + i * kRowsAtATime) * kRowBytes, b_, row_b_ + i * kRowsAtATime, n_, ldb_, column,
              in_row);
    }
  }

 private:
  static constexpr int kRowsAtATime = kThreads / 4;

  __device__ __forceinline__ static void copyRow(std::uint32_t dst, const __nv_bfloat16* matrix, int row, int rows,
                                                 int stride, int column, int bytes) {
    const int existing = row < rows ? bytes : 0;
    const __nv_bfloat16* src = existing > 0 ? matrix + std::size_t(row) * stride + column : matrix;
    ptx::cpAsyncSrcSize<kChunkBytes>(dst, src, existing);
  }

  const __nv_bfloat16 *a_, *b_;
  int lda_, ldb_, m_, n_, k_;
  int row_a_, row_b_, column_;
  std::uint32_t dst_;
};

/// A warp's share of a slot, 16 columns of it at a time.
struct Fragments {
  std::uint32_t a[kWarpM / 16][4];
  std::uint32_t b[kWarpN / 16][4];
};

class WarpTile {
 public:
  __device__ __forceinline__ WarpTile() {
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    row_m_ = warp / (kTileN / kWarpN) * kWarpM;
    row_n_ = warp % (kTileN / kWarpN) * kWarpN;
    // Lanes 0-15 name 16 rows of a, lanes 16-31 the same rows eight columns on; for b, lanes 0-7 and 16-23 name 16
    // rows, and the others the same rows eight columns on.
    const int lane_row_a = lane % 16, lane_row_b = lane % 8 + lane / 16 * 8;
    offset_a_ = (row_m_ + lane_row_a) * kRowBytes;
    offset_b_ = (kTileM + row_n_ + lane_row_b) * kRowBytes;
    const int swizzle = lane / 2 % 4;  // of lane_row_a and of lane_row_b alike
#pragma unroll
    for (int part = 0; part < kParts; ++part) {
      chunk_a_[part] = ((part * 2 + lane / 16) ^ swizzle) * kChunkBytes;
      chunk_b_[part] = ((part * 2 + lane / 8 % 2) ^ swizzle) * kChunkBytes;
    }
  }

  __device__ __forceinline__ void load(Fragments& fragments, std::uint32_t slot, int part) const {
#pragma unroll
    for (int i = 0; i < kWarpM / 16; ++i) {
      ptx::ldmatrixX4(fragments.a[i], slot + offset_a_ + i * 16 * kRowBytes + chunk_a_[part]);
    }
#pragma unroll
    for (int i = 0; i < kWarpN / 16; ++i) {
      ptx::ldmatrixX4(fragments.b[i], slot + offset_b_ + i * 16 * kRowBytes + chunk_b_[part]);
    }
  }

  __device__ __forceinline__ void multiply(const Fragments& fragments) {
#pragma unroll
    for (int i = 0; i < kWarpM / 16; ++i) {
#pragma unroll
      for (int j = 0; j < kWarpN / 8; ++j) {
        const std::uint32_t(&b)[4] = fragments.b[j / 2];
        ptx::mmaM16N8K16Bf16(sums_[i][j], fragments.a[i], b[j % 2 * 2], b[j % 2 * 2 + 1]);
      }
    }
  }

  /// Rounds and writes the warp's 64x64 elements, those that exist.
  __device__ __forceinline__ void store(const Problem& problem, TileIndex tile) const {
    const int lane = threadIdx.x % 32;
    const bool is_paired = problem.ldc % 2 == 0;  // two elements are aligned to 4 bytes in every row
#pragma unroll
    for (int i = 0; i < kWarpM / 16 * 2; ++i) {
      const int row = tile.m * kTileM + row_m_ + i * 8 + lane / 4;
      if (row >= problem.m) continue;
      __nv_bfloat16* out = problem.c + std::size_t(row) * problem.ldc;
#pragma unroll
      for (int j = 0; j < kWarpN / 8; ++j) {
        const int column = tile.n * kTileN + row_n_ + j * 8 + lane % 4 * 2;
        const float low = sums_[i / 2][j][i % 2 * 2], high = sums_[i / 2][j][i % 2 * 2 + 1];
        if (is_paired && column + 1 < problem.n) {
          *reinterpret_cast<std::uint32_t*>(out + column) = ptx::packBf16(low, high);
        } else {
          if (column < problem.n) out[column] = __float2bfloat16_rn(low);
          if (column + 1 < problem.n) out[column + 1] = __float2bfloat16_rn(high);
        }
      }
    }
  }

 private:
  float sums_[kWarpM / 16][kWarpN / 8][4] = {};
  int row_m_, row_n_;
  std::uint32_t offset_a_, offset_b_;
  std::uint32_t chunk_a_[kParts], chunk_b_[kParts];
};

inline int tilesOf(int extent, int tile) { return (extent + tile - 1) / tile; }

}  // namespace handoff::kernels::gemm_cp_async
