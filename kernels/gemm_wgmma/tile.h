// SPDX-License-Identifier: Apache-2.0
// What both versions share: the tile of a block, its products, its epilogue, its tensor maps.
//
// A block makes 128x256 elements of c, in steps of 64 along k; each of two warpgroups makes 64x256 of them. A
// slot holds the 128 rows of a and the 256 rows of b of one step, each 128 bytes long, with the 128-byte
// swizzle of TMA.
#pragma once

#include <cstdint>

#include "gemm_wgmma/gemm_wgmma.h"
#include "handoff/ptx/address.h"
#include "handoff/ptx/bulk.h"
#include "handoff/ptx/fence.h"
#include "handoff/ptx/ldmatrix.h"
#include "handoff/ptx/mbarrier.h"
#include "handoff/ptx/mma.h"
#include "handoff/ptx/tensor.h"
#include "handoff/ptx/wgmma.h"
#include "handoff/tensor_map.h"

namespace handoff::kernels::gemm_wgmma {

inline constexpr int kTileM = 128, kTileN = 256, kTileK = 64;
inline constexpr int kWarpgroups = 2;  // that multiply
inline constexpr int kWarpgroupM = kTileM / kWarpgroups;
inline constexpr int kWarps = kWarpgroups * 4;
inline constexpr int kRowBytes = kTileK * 2;
inline constexpr int kBytesA = kTileM * kRowBytes, kBytesB = kTileN * kRowBytes;
inline constexpr int kSwizzleBytes = 1024;  // after which the pattern repeats

// A warp writes its 16 rows of c in strips of 64 columns, through two buffers of its own.
inline constexpr int kStripM = 16, kStripN = 64;
inline constexpr int kStrips = kTileN / kStripN;
inline constexpr int kBytesStrip = kStripM * kStripN * 2;

/// Shared memory of a block, aligned to kSwizzleBytes.
template <int kStages>
struct SharedTile {
  unsigned char a[kStages][kBytesA];
  unsigned char b[kStages][kBytesB];
  unsigned char strips[kWarps][2][kBytesStrip];
  std::uint64_t full[kStages];
  std::uint64_t empty[kStages];
};

/// The products of one step: the 64 rows that descriptor `a` names with the 256 that `b` names. The caller
/// fences, commits and waits.
__device__ __forceinline__ void multiplyStep(float (&sums)[kTileN / 2], std::uint64_t a, std::uint64_t b,
                                             bool accumulate) {
  constexpr int kPartBytes = 16 * 2;  // a wgmma takes 16 columns of a and b; descriptors count in 16 bytes
#pragma unroll
  for (int part = 0; part < kRowBytes / kPartBytes; ++part) {
    ptx::wgmmaM64K16Bf16(sums, a + (part * kPartBytes >> 4), b + (part * kPartBytes >> 4),
                         accumulate || part > 0);
  }
}

/// Rounds the sums of a warp and stores its 16x256 elements from row `row` and column `column` of c on.
/// `strips` are the warp's two buffers. The stores of a warp belong to its lane 0; they may be in flight when
/// this returns, and lane 0 has to wait for them before the block ends.
__device__ __forceinline__ void storeTile(const float (&sums)[kTileN / 2], const CUtensorMap* map_c,
                                          std::uint32_t strips, int row, int column) {
  const int lane = threadIdx.x % 32;
  // The row of the strip, and which of two neighbouring chunks of 16 bytes, that this lane names for
  // stmatrix.
  const int lane_row = lane % 16, lane_chunk = lane / 16;
#pragma unroll
  for (int strip = 0; strip < kStrips; ++strip) {
    const std::uint32_t buffer = strips + strip % 2 * kBytesStrip;
    if (lane == 0) ptx::bulkWaitRead<1>();  // the store before the last one has read this buffer
    __syncwarp();
#pragma unroll
    for (int pair = 0; pair < kStripN / 16; ++pair) {
      const float* d = &sums[(strip * (kStripN / 16) + pair) * 8];
      const std::uint32_t chunk = (pair * 2 + lane_chunk) ^ (lane_row % 8);
      ptx::stmatrixX4(buffer + lane_row * (kStripN * 2) + chunk * 16, ptx::packBf16(d[0], d[1]),
                      ptx::packBf16(d[2], d[3]), ptx::packBf16(d[4], d[5]), ptx::packBf16(d[6], d[7]));
    }
    ptx::fenceProxyAsyncShared();  // each lane for what it wrote, before lane 0 has the copy engine read it
    __syncwarp();
    if (lane == 0) {
      ptx::tensorStore2d(map_c, buffer, column + strip * kStripN, row);
      ptx::bulkCommit();
    }
  }
}

/// The matrix that storeElements writes to.
struct Output {
  __nv_bfloat16* c;
  int m, n, ldc;
};

/// The same by ordinary stores, of those elements that exist. The copy engine writes 16 bytes at a time:
/// where n is no multiple of 8, it would overwrite what lies behind the last column.
__device__ __forceinline__ void storeElements(const float (&sums)[kTileN / 2], const Output& output, int row,
                                              int column) {
  const int lane = threadIdx.x % 32;
  const int lane_row = row + lane / 4, lane_column = column + lane % 4 * 2;
#pragma unroll
  for (int i = 0; i < kTileN / 2; ++i) {
    const int r = lane_row + i / 2 % 2 * 8, c = lane_column + i / 4 * 8 + i % 2;
    if (r < output.m && c < output.n)
      output.c[std::size_t(r) * output.ldc + c] = __float2bfloat16_rn(sums[i]);
  }
}

/// Spins until the phase of parity `parity` of a barrier of this block is complete.
__device__ __forceinline__ void waitParity(std::uint32_t barrier, std::uint32_t parity) {
  while (!ptx::mbarrierTryWaitParity(barrier, parity)) {
  }
}

/// Tensor maps of a problem. Boxes: 64 columns of `rows_a` rows of a and of `rows_b` rows of b; a strip of c.
struct Maps {
  TensorMapResult a, b, c;

  Maps(const GemmProblem& p, int rows_a, int rows_b)
      : a(encodeTensorMap(matrixView(p.a, p.m, p.k, p.lda * 2ull, rows_a, kTileK, Swizzle::kSpan128))),
        b(encodeTensorMap(matrixView(p.b, p.n, p.k, p.ldb * 2ull, rows_b, kTileK, Swizzle::kSpan128))),
        c(encodeTensorMap(
            matrixView<__nv_bfloat16>(p.c, p.m, p.n, p.ldc * 2ull, kStripM, kStripN, Swizzle::kSpan128))) {}

  explicit operator bool() const { return bool(a) && bool(b) && bool(c); }
};

/// The first column of the tile that storeElements has to store, or one behind all columns.
inline int firstRaggedColumn(int n) { return n % 8 == 0 ? n : n / kTileN * kTileN; }

inline int tilesOf(int extent, int tile) { return (extent + tile - 1) / tile; }

}  // namespace handoff::kernels::gemm_wgmma
