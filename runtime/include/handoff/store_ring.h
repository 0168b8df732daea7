// SPDX-License-Identifier: Apache-2.0
// A ring of slots that all threads of a block fill with ordinary stores, and the copy engine writes to global memory.
// sm_90.
//
//   for (int k = 0; k < tiles; ++k) {
//     auto f = ring.acquire();
//     write this thread's part of *f;
//     ring.publish(std::move(f), [&](auto& stores, const Tile& tile) { stores.store(map, &tile.at[0][0], x, y); });
//   }
//   ring.drain();
//
// One barrier a turn does both. Before it, each thread has fenced its stores into slot k, and the issuing thread knows
// that the engine has read the slot of tile k + 1 - kSlots, which tile k + 1 is going to overwrite. After it, the
// issuing thread may store slot k, and all may write the next. No fence on that side: completion of a bulk operation is
// followed by one (PTX ISA, "Async proxy").
#pragma once

#include "handoff/bulk_copy.h"
#include "handoff/slot.h"

namespace handoff {

template <class Tile, int kSlots>
class StoreRing {
  static_assert(kSlots >= 2, "with one slot, no store can be in flight while the next tile is written");

 public:
  using Stores = BulkStores<kSlots>;

  /// `slots` lie in shared memory; `issues` holds for one thread of the block, the same one at all times.
  __device__ __forceinline__ StoreRing(Tile (&slots)[kSlots], bool issues) : slots_(slots), issues_(issues) {}

  /// The slot of the next tile, free to be written.
  __device__ __forceinline__ Filling<Tile> acquire() { return Filling<Tile>(&slots_[slot_], slot_); }

  /// Has the tile stored: `issue(stores, tile)` is called in the issuing thread. A barrier of the whole block.
  template <class Issue>
  __device__ __forceinline__ void publish(Filling<Tile>&& filling, Issue&& issue) {
    fenceBeforeAsync();
    if (issues_) stores_.template waitRead<kSlots - 2>();
    __syncthreads();
    if (issues_) {
      issue(stores_, static_cast<const Tile&>(*filling));
      stores_.commit();
    }
    slot_ = slot_ + 1 == kSlots ? 0 : slot_ + 1;
  }

  /// Waits in the issuing thread for all stores to be in global memory. Before the block exits.
  __device__ __forceinline__ void drain() {
    if (issues_) stores_.drain();
  }

 private:
  Tile (&slots_)[kSlots];
  Stores stores_;
  int slot_ = 0;
  bool issues_;
};

}  // namespace handoff
