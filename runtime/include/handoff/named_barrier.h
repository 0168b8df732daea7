// SPDX-License-Identifier: Apache-2.0
// Barriers among some warps of a block, one for each slot of a hand-over. sm_80 and later.
//
// sync arrives and waits; arrive only arrives: what the thread did before is seen by those who sync. Neither waits for
// copies in flight: wait for them first. Whole warps take part, kThreads threads in all, in every round the same
// number; an arrive is matched by a sync before the next round. PTX ISA, "bar".
#pragma once

#include "handoff/ptx/named_barrier.h"

namespace handoff {

/// Barriers kFirst to kFirst + kCount - 1 of the block, of kThreads threads each. Barrier 0 is __syncthreads's.
template <int kFirst, int kCount, int kThreads>
class NamedBarriers {
  static_assert(kFirst >= 1 && kCount >= 1 && kFirst + kCount <= 16, "a block has barriers 1 to 15 beside barrier 0");
  static_assert(kThreads >= 32 && kThreads <= 1024 && kThreads % 32 == 0, "whole warps arrive at a barrier");

 public:
  __device__ __forceinline__ static void sync(int index) { ptx::barSync(kFirst + index, kThreads); }
  __device__ __forceinline__ static void arrive(int index) { ptx::barArrive(kFirst + index, kThreads); }
};

}  // namespace handoff
