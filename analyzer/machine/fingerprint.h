// SPDX-License-Identifier: Apache-2.0
// Fingerprints of the state of a run, equal for states from which the protocol goes on alike.
//
// A state holds ever growing numbers: epochs, phases, groups, events. What the future of a run asks of them is only how
// they compare: does this thread know of that access? So times are replaced by their ranks among the times that anybody
// may still be asked about (docs/soundness.md, "Equal states"). Left out are: the words of registers, which the caller
// compares, what only reports use, and the shadow of global memory.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "analyzer/machine/event.h"
#include "analyzer/machine/guards.h"
#include "analyzer/machine/path.h"
#include "analyzer/machine/run_state.h"

namespace handoff::machine {

struct StateView {
  const RunState& run;
  const ReadSets& reads;
  const std::vector<Access>& undrained;
  const std::map<std::size_t, std::vector<Multiplication>>& multiplications;
  const std::map<std::uint64_t, TensormapState>& tensormaps;
  const std::vector<std::uint32_t>& register_pool;   ///< setmaxnreg, by warp
  std::uint64_t progress = 0;
};

struct StateHash {
  std::uint64_t state = 0;
  std::array<std::uint64_t, 6> parts{};  ///< by StatePart
};

/// Room that one state after the other uses: most of their accesses are the same.
struct HashRoom {
  std::vector<LaneMask> noted;                                  ///< by event
  std::vector<std::uint32_t> block;                             ///< by event: index into `blocks`, plus 1
  std::vector<std::array<std::uint64_t, kWarpSize>> blocks;     ///< of an event's accesses, by lane
  std::vector<EventId> touched;
};

StateHash hashState(const StateView& view, HashRoom& room);

/// Mixes a word into a hash.
constexpr std::uint64_t mix(std::uint64_t hash, std::uint64_t word) {
  hash = (hash ^ word) * 0x9e3779b97f4a7c15ull;
  hash ^= hash >> 29;
  hash *= 0xbf58476d1ce4e5b9ull;
  return hash ^ (hash >> 32);
}

}  // namespace handoff::machine
