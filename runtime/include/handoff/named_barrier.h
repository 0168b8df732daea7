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
  __device__ __forceinline__ static void sync(int index) { syncOne<0>(index); }
  __device__ __forceinline__ static void arrive(int index) { arriveOne<0>(index); }

 private:
  // One instruction for each barrier: with the number in a register, a block would reserve all sixteen, and of those a
  // multiprocessor has no more than 64.
  template <int kIndex>
  __device__ __forceinline__ static void syncOne(int index) {
    if (kIndex + 1 == kCount || index == kIndex) {
      ptx::barSync<kFirst + kIndex>(kThreads);
    } else if constexpr (kIndex + 1 < kCount) {
      syncOne<kIndex + 1>(index);
    }
  }
  template <int kIndex>
  __device__ __forceinline__ static void arriveOne(int index) {
    if (kIndex + 1 == kCount || index == kIndex) {
      ptx::barArrive<kFirst + kIndex>(kThreads);
    } else if constexpr (kIndex + 1 < kCount) {
      arriveOne<kIndex + 1>(index);
    }
  }
};

}  // namespace handoff
