// SPDX-License-Identifier: Apache-2.0
// ldmatrix and stmatrix: 8x8 matrices of 16-bit elements between shared memory and the registers of a warp.
//
// Executed by a whole warp, converged; an execution barrier for nobody else, and no order between memory
// accesses of different lanes. Both access shared memory in the generic proxy: a tile that stmatrix wrote
// needs a proxy fence before a bulk copy reads it. `row` is the shared address of 16 bytes: lanes 0-7 name
// the rows of matrix 0, lanes 8-15 those of matrix 1, and so on. Lane t gets, of each matrix, elements 2(t%4)
// and 2(t%4)+1 of row t/4.
#pragma once

#include <cstdint>

namespace handoff::ptx {

/// Loads four matrices (PTX ISA, ldmatrix; sm_75).
__device__ __forceinline__ void ldmatrixX4(uint32_t (&d)[4], uint32_t row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3])
               : "r"(row)
               : "memory");
}

/// Loads two matrices; lanes 0-15 name the rows, the addresses of the others are ignored.
__device__ __forceinline__ void ldmatrixX2(uint32_t (&d)[2], uint32_t row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];"
               : "=r"(d[0]), "=r"(d[1])
               : "r"(row)
               : "memory");
}

/// Loads four matrices, each transposed: the lane gets elements of column t/4.
__device__ __forceinline__ void ldmatrixX4Transposed(uint32_t (&d)[4], uint32_t row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3])
               : "r"(row)
               : "memory");
}

/// Stores four matrices (PTX ISA, stmatrix; sm_90).
__device__ __forceinline__ void stmatrixX4(uint32_t row, uint32_t a, uint32_t b, uint32_t c, uint32_t d) {
  asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(row), "r"(a), "r"(b),
               "r"(c), "r"(d)
               : "memory");
}

}  // namespace handoff::ptx
