// SPDX-License-Identifier: Apache-2.0
// The matrix product that the GEMM kernels compute.
#pragma once

#include <cuda_bf16.h>
#include <cuda_runtime_api.h>

namespace handoff::kernels {

/// c = a * transpose(b), accumulated in f32 and rounded once to bf16. All matrices are row-major: a is m x k,
/// b is n x k, c is m x n. The sizes may be anything from 1 on. Leading dimensions count elements and are
/// multiples of 8, and the matrices are aligned to 16 bytes: copies move 16 bytes at a time.
struct GemmProblem {
  int m = 0, n = 0, k = 0;
  int lda = 0, ldb = 0, ldc = 0;
  const __nv_bfloat16* a = nullptr;
  const __nv_bfloat16* b = nullptr;
  __nv_bfloat16* c = nullptr;
};

}  // namespace handoff::kernels
