// SPDX-License-Identifier: Apache-2.0
// What both versions share: the tile of a block, its copies, its products and its epilogue.
//
// A block of 8 warps makes 128x256 elements of c, in steps of 32 along k; a warp makes 64x64 of them. A slot
// holds the 128 rows of a and the 256 rows of b of one step, each 64 bytes long: four chunks of 16 bytes.
// Chunk c of row r lies at chunk c ^ (r / 2 % 4), so that the eight rows that an ldmatrix reads at a time
// fall into different banks.
#pragma once

#include <cstdint>

#include "gemm_cp_async/gemm_cp_async.h"
#include "handoff/ptx/address.h"
#include "handoff/ptx/cp_async.h"
#include "handoff/ptx/ldmatrix.h"
#include "handoff/ptx/mma.h"

namespace handoff::kernels::gemm_cp_async {

inline constexpr int kTileM = 128, kTileN = 256, kTileK = 32;
inline constexpr int kWarpM = 64, kWarpN = 64;
inline constexpr int kRowBytes = kTileK * 2;
inline constexpr int kChunkBytes = 16, kChunkElements = 8;
inline constexpr int kSlotBytes = (kTileM + kTileN) * kRowBytes;
inline constexpr int kParts = kTileK / 16;  // an mma takes 16 columns of a and b
inline constexpr int kRasterWidth = 8;      // tiles of n that are worked on together, for the sake of L2

static_assert(kThreads == kTileM / kWarpM * (kTileN / kWarpN) * 32, "one warp for each of its tiles");

struct TileIndex {
  int m, n;
};

/// Blocks are numbered along x, then y, then z: through bands of kRasterWidth tile columns, row by row, so
/// that blocks that run together share rows of a and of b. The last band may be narrower than its blocks.
__device__ __forceinline__ TileIndex tileOfBlock() {
  return {static_cast<int>(blockIdx.y), static_cast<int>(blockIdx.z * kRasterWidth + blockIdx.x)};
}

/// The copies of one thread: chunk t % 4 of the rows t / 4, t / 4 + 64, ... of both operands.
class Copies {
 public:
  __device__ __forceinline__ Copies(const GemmProblem& problem, TileIndex tile) {
    const int row = threadIdx.x / 4, chunk = threadIdx.x % 4;
    const int row_a = tile.m * kTileM + row, row_b = tile.n * kTileN + row;
    start_a_ = problem.a;
    start_b_ = problem.b;
    jump_a_ = std::size_t(problem.lda) * kRowsAtATime;
    jump_b_ = std::size_t(problem.ldb) * kRowsAtATime;
    row_a_ = start_a_ + std::size_t(row_a) * problem.lda + chunk * kChunkElements;
    row_b_ = start_b_ + std::size_t(row_b) * problem.ldb + chunk * kChunkElements;
    rows_left_a_ = problem.m - row_a;
    rows_left_b_ = problem.n - row_b;
    columns_left_ = problem.k - chunk * kChunkElements;
    dst_ = row * kRowBytes + (chunk ^ (row / 2 % 4)) * kChunkBytes;
  }

  /// Issues the copies of step `step` into the slot. What lies outside the matrices becomes zero; such a copy
  /// reads nothing and is given the start of the matrix as its source.
  __device__ __forceinline__ void issue(int step, std::uint32_t slot) const {
    const int column = step * kTileK;
    const int bytes = max(0, min(kChunkElements, columns_left_ - column)) * 2;  // of the chunk that exist
#pragma unroll
    for (int i = 0; i < kTileM / kRowsAtATime; ++i) {
      const int existing = i * kRowsAtATime < rows_left_a_ ? bytes : 0;
      const __nv_bfloat16* src = existing > 0 ? row_a_ + i * jump_a_ + column : start_a_;
      ptx::cpAsyncSrcSize<kChunkBytes>(slot + dst_ + i * kRowsAtATime * kRowBytes, src, existing);
    }
#pragma unroll
    for (int i = 0; i < kTileN / kRowsAtATime; ++i) {
      const int existing = i * kRowsAtATime < rows_left_b_ ? bytes : 0;
      const __nv_bfloat16* src = existing > 0 ? row_b_ + i * jump_b_ + column : start_b_;
      ptx::cpAsyncSrcSize<kChunkBytes>(slot + dst_ + (kTileM + i * kRowsAtATime) * kRowBytes, src, existing);
    }
  }

 private:
  static constexpr int kRowsAtATime = kThreads / 4;

  const __nv_bfloat16 *start_a_, *start_b_, *row_a_, *row_b_;
  std::size_t jump_a_, jump_b_;  // elements from one row of this thread to the next
  int rows_left_a_, rows_left_b_, columns_left_;
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
    // Lanes 0-15 name 16 rows of a, lanes 16-31 the same rows eight columns on; for b, lanes 0-7 and 16-23
    // name 16 rows, and the others the same rows eight columns on.
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
  __device__ __forceinline__ void store(const GemmProblem& problem, TileIndex tile) const {
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

inline dim3 gridOf(const GemmProblem& problem) {
  const int tiles_m = (problem.m + kTileM - 1) / kTileM, tiles_n = (problem.n + kTileN - 1) / kTileN;
  const int width = tiles_n < kRasterWidth ? tiles_n : kRasterWidth;
  return dim3(width, tiles_m, (tiles_n + kRasterWidth - 1) / kRasterWidth);
}

inline int stepsOf(const GemmProblem& problem) { return (problem.k + kTileK - 1) / kTileK; }

}  // namespace handoff::kernels::gemm_cp_async
