// SPDX-License-Identifier: Apache-2.0
// bf16 matrix product by TMA and wgmma: how to launch it. sm_90a.
#pragma once

#include "gemm_common/problem.h"

namespace handoff::kernels::gemm_wgmma {

inline constexpr int kSequentialThreads = 256;
inline constexpr int kPipelinedThreads = 384;
inline constexpr int kMinStages = 2;
inline constexpr int kMaxStages = 4;

/// Tile columns that are worked on together, for the sake of L2.
inline constexpr int kRasterWidth = 8;

/// Persistent clusters of two blocks, each block with a producer warp and two consumer warpgroups around a
/// ring of `stages` slots.
cudaError_t launchPipelined(const GemmProblem& problem, int stages, int raster_width, cudaStream_t stream);

/// The same tile with one slot: copy, wait, multiply, one after the other.
cudaError_t launchSequential(const GemmProblem& problem, cudaStream_t stream);

/// Host symbols of the kernels, and the dynamic shared memory that they take, for their resources.
const void* pipelinedFunction(int stages);
const void* sequentialFunction();
int pipelinedSharedBytes(int stages);
int sequentialSharedBytes();

}  // namespace handoff::kernels::gemm_wgmma
