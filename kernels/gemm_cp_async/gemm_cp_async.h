// SPDX-License-Identifier: Apache-2.0
// bf16 matrix product by cp.async and mma.sync: how to launch it. sm_80 and later.
#pragma once

#include "gemm_common/problem.h"

namespace handoff::kernels::gemm_cp_async {

inline constexpr int kThreads = 256;
inline constexpr int kMinStages = 2;
inline constexpr int kMaxStages = 5;

/// A ring of `stages` slots: copies of stages - 1 steps are in flight while one is multiplied.
cudaError_t launchPipelined(const GemmProblem& problem, int stages, cudaStream_t stream);

/// The same tile with one slot: copy, wait, multiply, one after the other.
cudaError_t launchSequential(const GemmProblem& problem, cudaStream_t stream);

/// Host symbols of the kernels, and the dynamic shared memory that they take, for their resources.
const void* pipelinedFunction(int stages);
const void* sequentialFunction();
int sharedBytes(int stages);

}  // namespace handoff::kernels::gemm_cp_async
