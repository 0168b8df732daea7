// SPDX-License-Identifier: Apache-2.0
// Groups by counting, for one thread; phases by what the run noted.
#include "analyzer/picture/covers.h"

#include <algorithm>
#include <optional>

namespace handoff::picture {

using machine::Event;
using machine::EventId;
using machine::EventKind;
using machine::EventLog;
using machine::RunTrace;

namespace {

EventId waitForPhase(const EventLog& log, const RunTrace& trace, machine::ActorId barrier,
                     machine::Epoch phases, EventId after, const std::vector<Thread>& preferred) {
  EventId any = 0;
  for (const RunTrace::Phase& wait : trace.waits) {
    if (wait.event <= after || wait.barrier != barrier || wait.phases < phases) continue;
    if (any == 0) any = wait.event;
    for (const Thread& thread : preferred)
      if (isOf(log[wait.event], thread)) return wait.event;
  }
  return any;
}

struct Kinds {
  EventKind commit, wait, other_wait;
};

std::optional<Kinds> groupKinds(EventKind issue) {
  switch (issue) {
    case EventKind::kCopy:
      return Kinds{EventKind::kCommit, EventKind::kWaitGroup, EventKind::kWaitGroup};
    case EventKind::kBulk:
      return Kinds{EventKind::kBulkCommit, EventKind::kBulkWait, EventKind::kBulkReadWait};
    case EventKind::kMma:
      return Kinds{EventKind::kMmaCommit, EventKind::kMmaWait, EventKind::kMmaWait};
    default:
      return std::nullopt;
  }
}

}  // namespace

const RunTrace::Phase* phaseOf(const std::vector<RunTrace::Phase>& phases, EventId event) {
  const auto found =
      std::lower_bound(phases.begin(), phases.end(), event,
                       [](const RunTrace::Phase& phase, EventId wanted) { return phase.event < wanted; });
  return found == phases.end() || found->event != event ? nullptr : &*found;
}

EventId coverOf(const EventLog& log, const RunTrace& trace, EventId issue, unsigned lane,
                const std::vector<Thread>& preferred) {
  const Event& start = log[issue];
  const Thread thread{start.warp, lane};
  const machine::AsyncOp* op = log.findOp(issue, lane);
  if (op == nullptr) op = log.findOp(issue, machine::lowestLane(start.lanes));
  if (op != nullptr) {
    for (const machine::AsyncOp::Completion& completion : op->completions) {
      const EventId wait = waitForPhase(log, trace, completion.barrier, completion.phases, issue, preferred);
      if (wait != 0) return wait;
    }
  }
  const std::optional<Kinds> kinds = groupKinds(start.kind);
  const bool is_move = start.kind == EventKind::kTensorMemory;
  if (!kinds && !is_move) return 0;
  bool is_committed = false;
  std::uint32_t later_groups = 0;
  for (EventId id = issue + 1; id < log.end(); ++id) {
    const Event& event = log[id];
    if (!isOf(event, thread)) continue;
    if (is_move && event.kind == EventKind::kTensorWait && event.value == start.value) return id;
    if (!kinds) continue;
    if (event.kind == kinds->commit) {
      later_groups += is_committed ? 1 : 0;
      is_committed = true;
    } else if (event.kind == kinds->wait || event.kind == kinds->other_wait) {
      if (is_committed && event.value <= later_groups) return id;
    } else if (event.kind == EventKind::kWaitAll && start.kind == EventKind::kCopy) {
      return id;
    } else if (event.kind == EventKind::kCopyArrive && start.kind == EventKind::kCopy) {
      const RunTrace::Phase* phase = phaseOf(trace.tracked, id);
      const EventId wait =
          phase == nullptr ? 0 : waitForPhase(log, trace, phase->barrier, phase->phases, id, preferred);
      if (wait != 0) return wait;
    }
  }
  return 0;
}

}  // namespace handoff::picture
