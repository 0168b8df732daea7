// SPDX-License-Identifier: Apache-2.0
// What a run did, instruction by instruction: for questions about what lies between two events, which the event log does
// not hold.
#pragma once

#include <cstdint>
#include <vector>

#include "analyzer/machine/event.h"

namespace handoff::machine {

struct RunTrace {
  /// An instruction that some lanes of a warp executed, in the order of the schedule.
  struct Step {
    OpIndex op = 0;
    EventId next_event = 0;   ///< the first event that it logged, if it logged any
    LaneMask lanes = 0;
    std::uint16_t warp = 0;
  };
  /// An access of shared memory.
  struct Touch {
    EventId event = 0;
    std::uint32_t bytes = 0;
    std::uint64_t address = 0;  ///< shared::cta address
    std::uint32_t cta = 0;      ///< rank in the cluster
    bool is_write = false;
  };
  /// A phase of an mbarrier: that a wait has seen complete, or that an operation completes in.
  struct Phase {
    EventId event = 0;
    ActorId barrier = 0;
    Epoch phases = 0;           ///< completed when it is over, since the object came to be
  };

  /// An mbarrier object that came to be.
  struct Object {
    ActorId barrier = 0;
    std::uint64_t address = 0;  ///< as EventLog::barrierOf has it
    std::uint32_t expected = 0; ///< arrivals of a phase
  };

  bool records_touches = false;  ///< one entry for each range of each access: for short runs only
  std::size_t max_touches = ~std::size_t{0};

  // --- written by the run ---
  std::vector<Step> steps;
  std::vector<Touch> touches;
  std::vector<Phase> waits;     ///< kMbarrierWait
  std::vector<Phase> tracked;   ///< kCopyArrive: of the copies that its threads had issued
  std::vector<Phase> arrivals;  ///< kMbarrierArrive, kMbarrierExpect, kCtaSync, kCtaArrive: the phase or round they count for
  std::vector<Object> objects;  ///< in the order of their initialisation
  bool is_cut = false;          ///< there were more touches than max_touches

  /// Starts over, for another attempt at the same run.
  void clear() {
    steps.clear();
    touches.clear();
    waits.clear();
    tracked.clear();
    arrivals.clear();
    objects.clear();
    is_cut = false;
  }
};

}  // namespace handoff::machine
