// SPDX-License-Identifier: Apache-2.0
// A ring of slots that all threads of a block fill together with copyAsync, and read together. sm_80 and later.
//
//   for (int k = 0; k < ring.kAhead; ++k) { auto f = ring.acquire(); copy tile k into *f; ring.publish(std::move(f)); }
//   for (int k = 0; k < tiles; ++k) {
//     auto r = ring.wait();                                        // tile k is here, and tile k - 1 has been read
//     { auto f = ring.acquire(); copy tile k + kAhead, if any; ring.publish(std::move(f)); }
//     read *r;
//     ring.release(std::move(r));
//   }
//
// One barrier a turn does both: before it, each thread has waited for its own copies of tile k, and is done with turn
// k - 1; after it, tile k may be read by all, and the slot that was in use up to turn k - 1 may be filled. That holds as
// long as no more than kAhead tiles are acquired before the first wait, one after each wait, and every acquired slot is
// published, also where nothing was left to copy into it: the wait counts groups.
//
// A turn may read the kWindow newest tiles, as a stencil does: then the ring has that many fewer in flight.
#pragma once

#include "handoff/copy_group.h"
#include "handoff/slot.h"

namespace handoff {

template <class Tile, int kSlots, int kWindow = 1>
class ThreadRing {
  static_assert(kWindow >= 1, "a turn reads at least one tile");
  static_assert(kSlots > kWindow, "no copy can be in flight while tiles are read from all slots");

 public:
  /// Tiles that are in flight beside those that are read.
  static constexpr int kAhead = kSlots - kWindow;

  /// `slots` lie in shared memory. All threads of the block make a ring of their own over the same slots.
  __device__ __forceinline__ explicit ThreadRing(Tile (&slots)[kSlots]) : slots_(slots) {}

  /// The slot of the next tile to be copied.
  __device__ __forceinline__ Filling<Tile> acquire() { return Filling<Tile>(&slots_[fill_], fill_); }

  /// Closes the copies into a slot. Nobody may read it yet.
  __device__ __forceinline__ void publish(Filling<Tile>&&) {
    groups_.commit();
    fill_ = fill_ + 1 == kSlots ? 0 : fill_ + 1;
  }

  /// The next tile, when it has arrived. A barrier of the whole block.
  __device__ __forceinline__ Ready<Tile> wait() {
    groups_.template wait<kAhead - 1>();
    __syncthreads();
    return Ready<Tile>(&slots_[read_], read_);
  }

  /// The tile that came kBack turns before a ready one.
  template <int kBack>
  __device__ __forceinline__ const Tile& before(const Ready<Tile>& ready) const {
    static_assert(kBack >= 1 && kBack < kWindow, "only the tiles of the window are still there");
    const int slot = ready.slot() - kBack;
    return slots_[slot < 0 ? slot + kSlots : slot];
  }

  /// Gives a tile back after the thread's last read of it. The next wait tells the others.
  __device__ __forceinline__ void release(Ready<Tile>&&) { read_ = read_ + 1 == kSlots ? 0 : read_ + 1; }

  /// Waits for copies that nobody is going to read, before the slots are used for something else.
  __device__ __forceinline__ void drain() {
    waitForAllCopies();
    __syncthreads();
  }

 private:
  Tile (&slots_)[kSlots];
  CopyGroups<kAhead> groups_;
  int fill_ = 0;
  int read_ = 0;
};

}  // namespace handoff
