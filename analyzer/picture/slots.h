// SPDX-License-Identifier: Apache-2.0
// The slots of a run: areas of shared memory that are filled and used in turns, with everything that was put
// into them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/machine/event.h"
#include "analyzer/machine/program.h"
#include "analyzer/machine/run_trace.h"

namespace handoff::picture {

/// One content of a slot, from its first write to its last read. Events that did not come are 0.
struct Fill {
  std::uint32_t number = 0;  ///< of the tile, from 0 in the order of issue; its parts in other slots share it
  bool is_copied = false;    ///< by an asynchronous copy; else by stores of threads
  machine::EventId issued = 0;     ///< the first copy or store
  machine::EventId own_issue = 0;  ///< of the observer
  machine::EventId waited = 0;     ///< a wait covers it from here on; of stores: the last one
  machine::EventId first_read = 0, last_read = 0;
  /// No access is under way any more: the last read, or the wait that covers it where it reads
  /// asynchronously.
  machine::EventId released = 0;
  bool is_read_later = false;  ///< a bulk store or a multiplication reads it
};

struct SlotHistory {
  std::string name;                  ///< "ring, slot 0"
  std::uint32_t cta = 0;             ///< rank in the cluster
  std::uint64_t begin = 0, end = 0;  ///< shared::cta addresses
  std::vector<Fill> fills;           ///< in the order of issue
};

struct SlotQuestion {
  /// Also the memory around this address, though no asynchronous operation fills or drains it.
  struct Place {
    std::uint32_t cta = 0;
    std::uint64_t address = 0;
  };
  std::optional<Place> place{};
  /// Only the waits and reads of this warp count.
  std::optional<std::uint16_t> observer{};
};

/// What copies fill, and what bulk stores and multiplications read; by CTA and address.
///
/// Copies of one cp.async group, or of one mbarrier phase, are one tile. Its bytes are as many slots as they
/// have stretches: neighbours belong together unless something else is copied between them.
std::vector<SlotHistory> slotsOf(const machine::Program& program, const machine::EventLog& log,
                                 const machine::RunTrace& trace, const SlotQuestion& question);

/// The lowest warp that reads a slot of CTA 0 by itself.
std::optional<std::uint16_t> lowestReader(const std::vector<SlotHistory>& slots, const machine::EventLog& log,
                                          const machine::RunTrace& trace);

}  // namespace handoff::picture
