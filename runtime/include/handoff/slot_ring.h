// SPDX-License-Identifier: Apache-2.0
// A ring of slots between threads that fill and threads that read, at their own pace: a full and an empty barrier for
// each slot.
//
//   producer:  auto f = fill.acquire(...);  copy into slots[f.slot()];  fill.publish(std::move(f));
//   consumer:  auto r = read.wait();        read slots[r.slot()];       read.release(std::move(r));
//
// Producers begin in the phase before the first, so that they find an empty ring; consumers begin in the first. Slot by
// slot, a phase of the full barrier lies between two phases of the empty one, so that no wait is ever two phases late:
// which is what a wait by parity asks for (PTX ISA, "mbarrier.test_wait / try_wait").
#pragma once

#include <cuda.h>

#include "handoff/bulk_copy.h"
#include "handoff/cluster.h"
#include "handoff/slot.h"
#include "handoff/transaction_barrier.h"

namespace handoff {

/// Who fills: kThreads threads, with copyAsync or ordinary stores. sm_80.
template <int kThreads>
struct FromThreads {
  static constexpr std::uint32_t kFullArrivals = kThreads;
  static constexpr std::uint32_t kBlocks = 1;
  static constexpr bool is_async = false;
};

/// One thread, with the copy engine. sm_90.
struct FromTma {
  static constexpr std::uint32_t kFullArrivals = 1;
  static constexpr std::uint32_t kBlocks = 1;
  static constexpr bool is_async = true;
};

/// One thread in each of kClusterBlocks blocks, with the copy engine, which writes into the slots of all of them
/// (multicast). Rings of the blocks run in step; all of it happens within a ClusterScope. sm_90.
template <int kClusterBlocks>
struct FromCluster {
  static_assert(kClusterBlocks >= 2 && kClusterBlocks <= 16, "a cluster has up to 16 blocks");
  static constexpr std::uint32_t kFullArrivals = 1;
  static constexpr std::uint32_t kBlocks = kClusterBlocks;
  static constexpr bool is_async = true;
};

/// Who reads: kReaderWarps whole warps with ordinary loads (ldmatrix too). Their lanes fence before they release a slot
/// that the copy engine is going to overwrite; a fence is what the ISA's own example has there (PTX ISA,
/// "clusterlaunchcontrol.try_cancel"), and hardware needs it.
template <int kReaderWarps>
struct ByLoads {
  static constexpr std::uint32_t kWarps = kReaderWarps;
  static constexpr bool is_async = false;
};

/// kReaderWarps whole warps that only read through wgmma and have waited for it: that is in the async proxy itself.
template <int kReaderWarps>
struct ByWgmma {
  static constexpr std::uint32_t kWarps = kReaderWarps;
  static constexpr bool is_async = true;
};

/// The barriers of a ring, in shared memory; 16 bytes a slot.
template <int kSlots, class Source, class Readers>
struct RingBarriers {
  TransactionBarrier full[kSlots];
  TransactionBarrier empty[kSlots];

  /// By one thread, before the block's barrier (publishBarriers first, on sm_90) or the ClusterScope.
  __device__ __forceinline__ void init() {
    for (int slot = 0; slot < kSlots; ++slot) {
      full[slot].init(Arrivals(Source::kFullArrivals));
      empty[slot].init(Arrivals(Readers::kWarps * Source::kBlocks));
    }
  }
};

namespace detail {
struct Opaque {};  // slots of a SlotRing are the kernel's own; the ring hands out their numbers
}  // namespace detail

using FillingSlot = Filling<detail::Opaque>;
using ReadySlot = Ready<detail::Opaque>;

/// The filling side. Each thread that fills has one of its own.
template <int kSlots, class Source, class Readers>
class RingProducer {
 public:
  using Barriers = RingBarriers<kSlots, Source, Readers>;

  __device__ __forceinline__ explicit RingProducer(Barriers& barriers) : barriers_(barriers) {}

  /// Waits until all readers have released the slot of the next tile. FromThreads.
  __device__ __forceinline__ FillingSlot acquire() {
    static_assert(!Source::is_async, "a slot for the copy engine is acquired with the bytes that are to come");
    barriers_.empty[cursor_.slot()].wait(cursor_.phase());
    return FillingSlot(nullptr, cursor_.slot());
  }

  /// The same, and announces the bytes that all copies into this block's slot are going to bring. FromTma, FromCluster.
  __device__ __forceinline__ FillingSlot acquire(Bytes incoming) {
    static_assert(Source::is_async, "only the copy engine counts bytes");
    if constexpr (Source::kBlocks > 1) {
      barriers_.empty[cursor_.slot()].waitCluster(cursor_.phase());
    } else {
      barriers_.empty[cursor_.slot()].wait(cursor_.phase());
    }
    barriers_.full[cursor_.slot()].arriveExpect(incoming);
    return FillingSlot(nullptr, cursor_.slot());
  }

  /// Loads a dense range into an acquired slot.
  template <class T>
  __device__ __forceinline__ void load(const FillingSlot& filling, T* shared, const T* global, Bytes bytes) {
    bulkLoad(shared, global, bytes, barriers_.full[filling.slot()]);
  }
  /// Loads a box into an acquired slot.
  template <class T>
  __device__ __forceinline__ void load(const FillingSlot& filling, T* shared, const CUtensorMap& map, int x, int y) {
    tensorLoad(shared, map, barriers_.full[filling.slot()], x, y);
  }
  /// Loads a dense range, or a box, into the slots of all blocks. FromCluster.
  template <class T>
  __device__ __forceinline__ void loadAll(const FillingSlot& filling, T* shared, const T* global, Bytes bytes) {
    static_assert(Source::kBlocks > 1, "only a ring that is filled FromCluster has other blocks' readers");
    ptx::bulkLoadMulticast(ptx::sharedAddress(shared), global, bytes.count(), barriers_.full[filling.slot()].address(),
                           kAllBlocks);
  }
  template <class T>
  __device__ __forceinline__ void loadAll(const FillingSlot& filling, T* shared, const CUtensorMap& map, int x, int y) {
    static_assert(Source::kBlocks > 1, "only a ring that is filled FromCluster has other blocks' readers");
    ptx::tensorLoadMulticast2d(ptx::sharedAddress(shared), &map, barriers_.full[filling.slot()].address(), x, y,
                               kAllBlocks);
  }

  /// Hands the slot over. The copy engine's bytes complete it; copyAsync of this thread do, when they are over.
  __device__ __forceinline__ void publish(FillingSlot&& filling) {
    if constexpr (!Source::is_async) barriers_.full[filling.slot()].arriveWhenCopied();
    cursor_.advance();
  }

  /// Hands a slot over that this thread has filled with ordinary stores. FromThreads.
  __device__ __forceinline__ void publishWritten(FillingSlot&& filling) {
    static_assert(!Source::is_async, "the copy engine's bytes complete the slot");
    barriers_.full[filling.slot()].arrive();
    cursor_.advance();
  }

 private:
  static constexpr std::uint16_t kAllBlocks = static_cast<std::uint16_t>((1u << Source::kBlocks) - 1);

  Barriers& barriers_;
  Cursor<kSlots, Phase> cursor_{Phase::beforeFirst()};
};

/// The reading side. Each thread that reads has one of its own; whole warps wait and release together.
template <int kSlots, class Source, class Readers>
class RingConsumer {
 public:
  using Barriers = RingBarriers<kSlots, Source, Readers>;

  __device__ __forceinline__ explicit RingConsumer(Barriers& barriers) : barriers_(barriers) {}

  /// Waits for the next tile.
  __device__ __forceinline__ ReadySlot wait() {
    barriers_.full[cursor_.slot()].wait(cursor_.phase());
    return ReadySlot(nullptr, cursor_.slot());
  }

  /// Gives a slot back after the warp's last read of it. One arrival for the warp, at each block that fills the slot.
  __device__ __forceinline__ void release(ReadySlot&& ready) {
    if constexpr (Source::is_async && !Readers::is_async) fenceBeforeAsync();
    __syncwarp();
    const std::uint32_t lane = threadIdx.x % 32;
    if constexpr (Source::kBlocks > 1) {
      if (lane < Source::kBlocks) {
        ptx::fenceReleaseShared();
        ptx::mbarrierArriveClusterRelaxed(ptx::mapa(barriers_.empty[ready.slot()].address(), lane));
      }
    } else {
      if (lane == 0) barriers_.empty[ready.slot()].arrive();
    }
    cursor_.advance();
  }

 private:
  Barriers& barriers_;
  Cursor<kSlots, Phase> cursor_{Phase::first()};
};

}  // namespace handoff
