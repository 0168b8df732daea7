// SPDX-License-Identifier: Apache-2.0
// A barrier in shared memory whose phases complete when all arrivals and all announced bytes are there.
//
// Life: one thread calls init, then either publishBarriers and a barrier of the block or cluster; then arrivals and
// waits, with at least one wait that returned for each phase before the next one's first arrival.
// PTX ISA, "Parallel Synchronization and Communication Instructions: mbarrier". sm_80; bytes and clusters sm_90.
#pragma once

#include <cstdint>

#include "handoff/ptx/cp_async.h"
#include "handoff/ptx/fence.h"
#include "handoff/ptx/mbarrier.h"
#include "handoff/units.h"

namespace handoff {

class alignas(8) TransactionBarrier {
 public:
  TransactionBarrier() = default;
  TransactionBarrier(const TransactionBarrier&) = delete;
  TransactionBarrier& operator=(const TransactionBarrier&) = delete;

  /// Begins the first phase. One thread, once; nobody else may touch the barrier until they have synchronised with it.
  __device__ __forceinline__ void init(Arrivals arrivals) { ptx::mbarrierInit(address(), arrivals.count()); }

  /// Ends the barrier's life, so that its bytes may be used for something else. One thread, after all others are done.
  __device__ __forceinline__ void invalidate() { ptx::mbarrierInval(address()); }

  /// One arrival: what this thread did before is seen by those who have waited for the phase.
  __device__ __forceinline__ void arrive() { ptx::mbarrierArrive(address()); }

  /// One arrival once all copyAsync of this thread so far are over. It publishes those copies, nothing else.
  __device__ __forceinline__ void arriveWhenCopied() { ptx::cpAsyncMbarrierArriveNoinc(address()); }

  /// Announces bytes for the current phase, and arrives. Before the copies that bring them, or after: this thread's
  /// own arrival keeps the phase open meanwhile.
  __device__ __forceinline__ void arriveExpect(Bytes bytes) { ptx::mbarrierArriveExpectTx(address(), bytes.count()); }

  /// Announces bytes for the current phase; another arrival has to be outstanding.
  __device__ __forceinline__ void expect(Bytes bytes) { ptx::mbarrierExpectTx(address(), bytes.count()); }

  /// Whether the phase is complete. Orders what it publishes where it is. May sleep for a while (sm_90).
  [[nodiscard]] __device__ __forceinline__ bool isComplete(Phase phase) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    return ptx::mbarrierTryWaitParity(address(), phase.parity());
#else
    return ptx::mbarrierTestWaitParity(address(), phase.parity());
#endif
  }

  /// Waits for the phase to complete.
  __device__ __forceinline__ void wait(Phase phase) {
    while (!isComplete(phase)) {
    }
  }

  /// Waits for a phase in which threads of other blocks arrive: what they did before is seen, too. sm_90.
  __device__ __forceinline__ void waitCluster(Phase phase) {
    while (!ptx::mbarrierTryWaitParityCluster(address(), phase.parity())) {
    }
  }

  /// The barrier as an operand of copies.
  __device__ __forceinline__ std::uint32_t address() const { return ptx::sharedAddress(this); }

 private:
  std::uint64_t state_;
};

/// By the thread that has called init, before the block's or cluster's barrier that publishes the barriers to copies
/// and to other blocks. sm_90.
__device__ __forceinline__ void publishBarriers() { ptx::fenceMbarrierInit(); }

}  // namespace handoff
