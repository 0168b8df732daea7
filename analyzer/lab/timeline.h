// SPDX-License-Identifier: Apache-2.0
// The slots of a real kernel over time, read off a run of the analyzer.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analyzer/explore/analyze.h"
#include "analyzer/frontend/unit.h"
#include "analyzer/support/result.h"

namespace handoff::lab {

/// A tile's life in its slot. Times are instructions that the observed warp has executed.
struct Tile {
  std::uint32_t number = 0;         ///< from 0, in the order of issue
  std::uint64_t issued = 0;         ///< the first copy of the tile is issued
  std::uint64_t waited = 0;         ///< the wait that covers it is passed
  std::uint64_t released = 0;       ///< after the last read
};

struct Slot {
  std::string name;                 ///< "ring, slot 0"
  std::vector<Tile> tiles;          ///< in the order of issue
};

struct Timeline {
  std::string file, kernel, launch;
  unsigned warp = 0;                ///< the one that is observed
  std::vector<Slot> slots;          ///< by address
  std::uint64_t filled = 0;         ///< the first tile is used from here on: end of the fill
  std::uint64_t drained_from = 0;   ///< after the last issue: begin of the drain
  std::uint64_t end = 0;            ///< the last tile is released
};

/// Of the unit's only kernel that copies tiles into shared memory and reads them again, under its first launch. Errors: no
/// such kernel, several of them, too many tiles to show.
Result<Timeline> timelineOf(const frontend::Unit& unit, const explore::Options& options);

/// For the terminal.
std::string renderTimeline(const Timeline& timeline);

}  // namespace handoff::lab
