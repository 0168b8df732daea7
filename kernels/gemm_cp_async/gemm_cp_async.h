// SPDX-License-Identifier: Apache-2.0
// bf16 matrix product by cp.async and mma.sync: the problem, and how to launch it.
#pragma once

#include <cuda_bf16.h>
#include <cuda_runtime.h>

namespace handoff::kernels::gemm_cp_async {

/// c = a * transpose(b), accumulated in f32 and rounded once. All matrices are row-major: a is m x k, b is n x k,
/// c is m x n. Leading dimensions count elements; lda and ldb are multiples of 8 and at least k, and a and b are
/// aligned to 16 bytes, since a copy moves 16 bytes. The sizes themselves may be anything from 1 on; ldc is at least n.
struct Problem {
  int m, n, k;
  int lda, ldb, ldc;
  const __nv_bfloat16* a;
  const __nv_bfloat16* b;
  __nv_bfloat16* c;
};

inline constexpr int kMinStages = 2;
inline constexpr int kMaxStages = 5;

/// A ring of `stages` slots: copies of stages - 1 steps are in flight while one is multiplied.
cudaError_t launchPipelined(const Problem& problem, int stages, cudaStream_t stream);

/// The same tile with one slot: copy, wait, multiply, one after the other.
cudaError_t launchSequential(const Problem& problem, cudaStream_t stream);

}  // namespace handoff::kernels::gemm_cp_async
