// SPDX-License-Identifier: Apache-2.0
// Copies of 4, 8 or 16 bytes that a thread makes behind its own back, and the groups in which it waits for them.
//
// A copy writes all of its destination, and none of it may be read or written until the thread has waited for the
// copy's group. The wait is the thread's own: other threads need a barrier after it. sm_80 and later.
// PTX ISA, "cp.async", "Async copy completion mechanisms".
#pragma once

#include <cstdint>
#include <type_traits>

#include "handoff/ptx/cp_async.h"
#include "handoff/units.h"

namespace handoff {

namespace detail {

template <class T>
struct Chunk {
  static_assert(!std::is_const_v<T>, "the destination of a copy is written");
  static_assert(std::is_trivially_copyable_v<T>, "only trivially copyable types can be copied byte by byte");
  static_assert(sizeof(T) == 4 || sizeof(T) == 8 || sizeof(T) == 16, "cp.async copies 4, 8 or 16 bytes");
  static_assert(alignof(T) == sizeof(T), "a chunk has to be aligned to its size: use float2, float4 or alignas");
  static constexpr int kBytes = sizeof(T);
};

/// The type of the source follows from that of the destination.
template <class T>
struct Same {
  using Type = T;
};
template <class T>
using Source = const typename Same<T>::Type*;

}  // namespace detail

/// Copies one T (4, 8 or 16 bytes, aligned to its size) from global to shared memory.
template <class T>
__device__ __forceinline__ void copyAsync(T* shared, detail::Source<T> global) {
  ptx::cpAsync<detail::Chunk<T>::kBytes>(ptx::sharedAddress(shared), global);
}

/// Copies where `condition` holds; elsewhere the destination keeps what it held, and there is nothing to wait for.
/// The source is not touched then, and need not exist.
template <class T>
__device__ __forceinline__ void copyAsyncIf(bool condition, T* shared, detail::Source<T> global) {
  ptx::cpAsyncIf<detail::Chunk<T>::kBytes>(ptx::sharedAddress(shared), global, condition);
}

/// Copies the first `valid` bytes (0 to sizeof(T)) and zeroes the rest. No more than those are read.
template <class T>
__device__ __forceinline__ void copyAsyncPrefix(T* shared, detail::Source<T> global, Bytes valid) {
  ptx::cpAsyncSrcSize<detail::Chunk<T>::kBytes>(ptx::sharedAddress(shared), global, valid.count());
}

/// Copies where `condition` holds, and zeroes the destination elsewhere, without reading the source.
template <class T>
__device__ __forceinline__ void copyAsyncOrZero(bool condition, T* shared, detail::Source<T> global) {
  ptx::cpAsyncIgnoreSrc<detail::Chunk<T>::kBytes>(ptx::sharedAddress(shared), global, !condition);
}

/// The copy groups of the executing thread, of which at most kInFlight are meant to be unfinished at a time.
template <int kInFlight>
class CopyGroups {
  static_assert(kInFlight >= 1, "a thread without groups in flight has nothing to wait for");

 public:
  /// Closes a group over all copies since the last one. Empty groups count: commit on every turn, also where there was
  /// nothing left to copy, and the same wait is right on all turns.
  __device__ __forceinline__ void commit() { ptx::cpAsyncCommit(); }

  /// Waits until at most kPending groups, the newest, are unfinished.
  template <int kPending>
  __device__ __forceinline__ void wait() {
    static_assert(kPending >= 0 && kPending < kInFlight, "such a wait would never wait for anything");
    ptx::cpAsyncWait<kPending>();
  }
};

/// Waits for all copies of this thread, in groups or not.
__device__ __forceinline__ void waitForAllCopies() { ptx::cpAsyncWaitAll(); }

}  // namespace handoff
