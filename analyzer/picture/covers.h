// SPDX-License-Identifier: Apache-2.0
// Which wait of a run covers an operation of one thread.
#pragma once

#include <vector>

#include "analyzer/machine/event.h"
#include "analyzer/machine/run_trace.h"

namespace handoff::picture {

/// A thread of the cluster.
struct Thread {
  std::uint16_t warp = 0;
  unsigned lane = 0;
  friend bool operator==(const Thread&, const Thread&) = default;
};

inline bool isOf(const machine::Event& event, Thread thread) {
  return event.warp == thread.warp && (event.lanes & machine::laneBit(thread.lane)) != 0;
}

/// The first wait after which the asynchronous operation is over; 0: none in this run. Groups are waited for
/// by the thread that issues; phases of an mbarrier by anybody, one of `preferred` if they do.
machine::EventId coverOf(const machine::EventLog& log, const machine::RunTrace& trace, machine::EventId issue,
                         unsigned lane, const std::vector<Thread>& preferred);

/// The entry of `phases` for an event; null: none.
const machine::RunTrace::Phase* phaseOf(const std::vector<machine::RunTrace::Phase>& phases,
                                        machine::EventId event);

}  // namespace handoff::picture
