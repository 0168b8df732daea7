// SPDX-License-Identifier: Apache-2.0
// The two states of a slot that code may hold, as types: a slot that is being filled, and one that is ready to be read.
//
// Rings hand them out and take them back; neither can be copied, and each goes back to one function only. So reading
// what was not waited for, publishing what was not acquired, and releasing twice do not compile.
#pragma once

#include <utility>

namespace handoff {

/// A slot that this thread may fill, from acquire to publish.
template <class Tile>
class [[nodiscard]] Filling {
 public:
  __device__ __forceinline__ Filling(Tile* tile, int slot) : tile_(tile), slot_(slot) {}
  Filling(Filling&&) = default;
  Filling(const Filling&) = delete;
  Filling& operator=(const Filling&) = delete;
  Filling& operator=(Filling&&) = delete;

  __device__ __forceinline__ Tile& operator*() const { return *tile_; }
  __device__ __forceinline__ Tile* operator->() const { return tile_; }
  __device__ __forceinline__ int slot() const { return slot_; }

 private:
  Tile* tile_;
  int slot_;
};

/// A slot whose contents this thread may read, from wait to release.
template <class Tile>
class [[nodiscard]] Ready {
 public:
  __device__ __forceinline__ Ready(const Tile* tile, int slot) : tile_(tile), slot_(slot) {}
  Ready(Ready&&) = default;
  Ready(const Ready&) = delete;
  Ready& operator=(const Ready&) = delete;
  Ready& operator=(Ready&&) = delete;

  __device__ __forceinline__ const Tile& operator*() const { return *tile_; }
  __device__ __forceinline__ const Tile* operator->() const { return tile_; }
  __device__ __forceinline__ int slot() const { return slot_; }

 private:
  const Tile* tile_;
  int slot_;
};

/// A position in a ring of kSlots slots, with the phase of the lap.
template <int kSlots, class LapPhase>
class Cursor {
  static_assert(kSlots >= 1, "a ring has slots");

 public:
  __device__ __forceinline__ explicit Cursor(LapPhase phase) : phase_(phase) {}
  __device__ __forceinline__ int slot() const { return slot_; }
  __device__ __forceinline__ LapPhase phase() const { return phase_; }
  __device__ __forceinline__ void advance() {
    if (++slot_ == kSlots) {
      slot_ = 0;
      phase_.advance();
    }
  }

 private:
  int slot_ = 0;
  LapPhase phase_;
};

}  // namespace handoff
