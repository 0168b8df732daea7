// SPDX-License-Identifier: Apache-2.0
// mma.sync: a matrix product of one warp, from registers (sm_80).
//
// Executed by a whole warp, converged (PTX ISA, Warp Level Matrix Multiply-Accumulate Instructions). Lane t
// holds, with g = t/4 and c = 2(t%4):
//   a[0], a[1]   A[g][c..c+1], A[g+8][c..c+1]       (row-major 16x16)
//   a[2], a[3]   A[g][c+8..c+9], A[g+8][c+8..c+9]
//   b[0], b[1]   B[c..c+1][g], B[c+8..c+9][g]       (column-major 16x8)
//   d[0..1], d[2..3]   D[g][c..c+1], D[g+8][c..c+1]
#pragma once

#include <cstdint>

namespace handoff::ptx {

/// d += a * b for bf16 operands, accumulated in f32 (PTX ISA, mma).
__device__ __forceinline__ void mmaM16N8K16Bf16(float (&d)[4], const uint32_t (&a)[4], uint32_t b0,
                                                uint32_t b1) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
      "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

/// Two floats as a pair of bf16, `low` in the lower half, rounded to nearest even (PTX ISA, cvt; sm_80).
__device__ __forceinline__ uint32_t packBf16(float low, float high) {
  uint32_t pair;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(high), "f"(low));
  return pair;
}

}  // namespace handoff::ptx
