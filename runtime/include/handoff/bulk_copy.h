// SPDX-License-Identifier: Apache-2.0
// Copies by the copy engine (TMA): dense ranges, and boxes of tensors. sm_90.
//
// One thread issues a copy. Loads are over when the barrier's phase is; stores when their group is. Addresses of ranges
// are aligned to 16 bytes, sizes are multiples of 16; boxes in shared memory are aligned to 128 bytes.
// PTX ISA, "cp.async.bulk", "cp.async.bulk.tensor".
//
// Proxies (PTX ISA, "Memory Consistency Model: Proxies", "Async proxy"): what a load brought may be read without a
// fence. What ordinary stores wrote is fenced with fenceBeforeAsync, by each writing thread, before a barrier, before
// the copy that reads it; and what ordinary loads have read, before the copy that overwrites it.
#pragma once

#include <cuda.h>

#include <type_traits>

#include "handoff/ptx/bulk.h"
#include "handoff/ptx/fence.h"
#include "handoff/ptx/tensor.h"
#include "handoff/transaction_barrier.h"
#include "handoff/units.h"

namespace handoff {

/// Orders this thread's earlier accesses to shared memory before later copies by the engine. Not a barrier.
__device__ __forceinline__ void fenceBeforeAsync() { ptx::fenceProxyAsyncShared(); }

/// Loads a dense range; `barrier`'s phase has been, or will be, told to expect its bytes.
template <class T>
__device__ __forceinline__ void bulkLoad(T* shared, const std::remove_const_t<T>* global, Bytes bytes,
                                         TransactionBarrier& barrier) {
  static_assert(!std::is_const_v<T>, "the destination of a copy is written");
  ptx::bulkLoad(ptx::sharedAddress(shared), global, bytes.count(), barrier.address());
}

/// Loads a box that starts at column x, row y (elements, negative ones too). The barrier gets the bytes of the whole box.
/// x is a multiple of 16 bytes: at others an H200 ends the kernel with "illegal instruction". No document says so.
template <class T>
__device__ __forceinline__ void tensorLoad(T* shared, const CUtensorMap& map, TransactionBarrier& barrier, int x, int y) {
  static_assert(!std::is_const_v<T>, "the destination of a copy is written");
  ptx::tensorLoad2d(ptx::sharedAddress(shared), &map, barrier.address(), x, y);
}

/// The stores of the executing thread, in groups of which at most kInFlight are meant to be unfinished at a time.
template <int kInFlight>
class BulkStores {
  static_assert(kInFlight >= 1, "a thread without stores in flight has nothing to wait for");

 public:
  /// Stores a dense range.
  template <class T>
  __device__ __forceinline__ void store(T* global, const T* shared, Bytes bytes) {
    ptx::bulkStore(global, ptx::sharedAddress(shared), bytes.count());
  }

  /// Stores a box at column x, row y (elements, not negative; x as that of a load). What lies outside of the tensor is left out, in the
  /// innermost dimension by chunks of 16 bytes: an H200 overwrites up to the next multiple of 16 behind a row that is
  /// none itself. No document says so; where rows are padded, leave those bytes to the engine.
  template <class T>
  __device__ __forceinline__ void store(const CUtensorMap& map, const T* shared, int x, int y) {
    ptx::tensorStore2d(&map, ptx::sharedAddress(shared), x, y);
  }

  /// Closes a group over all stores since the last one.
  __device__ __forceinline__ void commit() { ptx::bulkCommit(); }

  /// Waits until at most kPending groups still read from shared memory.
  template <int kPending>
  __device__ __forceinline__ void waitRead() {
    static_assert(kPending >= 0 && kPending < kInFlight, "such a wait would never wait for anything");
    ptx::bulkWaitRead<kPending>();
  }

  /// Waits for all stores to be in global memory. Before the thread exits, at the latest.
  __device__ __forceinline__ void drain() { ptx::bulkWait<0>(); }
};

}  // namespace handoff
