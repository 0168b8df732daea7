// SPDX-License-Identifier: Apache-2.0
// The 32 lanes of a warp: masks, and a register's concrete words with a mask of lanes whose word is unknown.
#pragma once

#include <array>
#include <bit>
#include <cstdint>

namespace handoff::machine {

inline constexpr unsigned kWarpSize = 32;
using LaneMask = std::uint32_t;
inline constexpr LaneMask kAllLanes = 0xffffffffu;

/// One register of one warp. A word is kept zero-extended from the register's width; predicates are 0 or 1.
struct Lanes {
  alignas(32) std::array<std::uint64_t, kWarpSize> word{};
  LaneMask unknown = 0;  ///< lanes whose word depends on data that the machine does not have

  bool isKnown(unsigned lane) const { return !((unknown >> lane) & 1); }
};

constexpr LaneMask laneBit(unsigned lane) { return LaneMask{1} << lane; }

/// Calls f(lane) for each set lane, lowest first.
template <typename F>
void forEachLane(LaneMask mask, F&& f) {
  while (mask != 0) {
    const unsigned lane = static_cast<unsigned>(std::countr_zero(mask));
    mask &= mask - 1;
    f(lane);
  }
}

constexpr unsigned lowestLane(LaneMask mask) { return static_cast<unsigned>(std::countr_zero(mask)); }

}  // namespace handoff::machine
