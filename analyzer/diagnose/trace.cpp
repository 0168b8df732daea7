// SPDX-License-Identifier: Apache-2.0
// Step traces.
#include "analyzer/diagnose/trace.h"

#include <cstdint>

namespace handoff::diagnose {

using machine::Access;
using machine::Event;
using machine::EventId;
using machine::EventKind;

namespace {

constexpr std::size_t kMaxSteps = 12;
/// A loop of a thousand turns is not worth a thousand steps: the search goes back this far from the second access.
constexpr EventId kMaxDistance = 200'000;

bool isSynchronisation(EventKind kind) {
  switch (kind) {
    case EventKind::kRead:
    case EventKind::kWrite:
    case EventKind::kAtomic:
    case EventKind::kCopy:
    case EventKind::kBulk:
    case EventKind::kAsyncStore:
    case EventKind::kMma:
    case EventKind::kTensorMemory: return false;
    default: return true;
  }
}

std::string pendingText(const std::string& what, std::uint32_t pending) {
  return pending == 0 ? what : what + ", all but the newest " + std::to_string(pending);
}

std::string ordinal(std::uint32_t pass) { return pass == 1 ? "" : " (pass " + std::to_string(pass) + ")"; }

std::string actorName(const Run& run, const Event& event, unsigned lane) {
  return "thread " + threadName(run.launch, event.warp, lane);
}

Step stepOf(const Run& run, EventId id, unsigned lane) {
  const Event& event = run.outcome.log[id];
  return {actorName(run, event, lane), describe(run, id, lane) + ordinal(event.pass),
          run.program.stackOf(run.program.ops[event.op].instr)};
}

}  // namespace

std::string describe(const Run& run, EventId id, unsigned lane) {
  const Event& event = run.outcome.log[id];
  const auto value = std::to_string(event.value);
  switch (event.kind) {
    case EventKind::kRead: return "reads";
    case EventKind::kWrite: return "writes";
    case EventKind::kAtomic: return "updates atomically";
    case EventKind::kCopy:
      return "issues a copy into group " + std::to_string(run.outcome.log.groupOf(id, lane));
    case EventKind::kCommit: return "commits group " + std::to_string(event.value - 1);
    case EventKind::kWaitGroup:
      return event.value == 0 ? "waits for all committed groups" : "waits until at most " + value +
             (event.value == 1 ? " group is" : " groups are") + " pending";
    case EventKind::kWaitAll: return "waits for all copies";
    case EventKind::kCtaSync: return "synchronises at barrier " + value;
    case EventKind::kCtaArrive: return "arrives at barrier " + value;
    case EventKind::kWarpSync: return "synchronises its warp";
    case EventKind::kMbarrierInit: return "initialises the mbarrier for " + value + " arrivals";
    case EventKind::kMbarrierInval: return "invalidates the mbarrier";
    case EventKind::kMbarrierArrive: return "arrives at the mbarrier in phase " + value;
    case EventKind::kMbarrierExpect: return "announces " + value + " bytes";
    case EventKind::kMbarrierWait:
      if (static_cast<std::int32_t>(event.value) < 0) return "goes on at once: by its parity the wait asks for the phase before the first";
      return (event.is_repeat ? "goes on at once, after a wait for the old phase " : "has waited for phase ") + value;
    case EventKind::kCopyArrive: return "lets its copies arrive at the mbarrier in phase " + value;
    case EventKind::kBulk: return "issues a bulk copy";
    case EventKind::kAsyncStore: return "stores asynchronously";
    case EventKind::kMma: return "starts a multiplication into group " + value;
    case EventKind::kTensorMemory: return event.value == 0 ? "loads from tensor memory" : "stores to tensor memory";
    case EventKind::kTensorWait:
      return event.value == 2 ? "gives up the right to allocate" : event.value == 0 ? "waits for its loads from tensor memory"
                                                                                    : "waits for its stores to tensor memory";
    case EventKind::kBulkCommit: return "commits bulk group " + std::to_string(event.value - 1);
    case EventKind::kBulkWait: return pendingText("waits for bulk groups to be complete", event.value);
    case EventKind::kBulkReadWait: return pendingText("waits for bulk groups to have read their sources", event.value);
    case EventKind::kMmaFence: return "executes wgmma.fence";
    case EventKind::kMmaCommit: return "commits wgmma group " + std::to_string(event.value - 1);
    case EventKind::kMmaWait: return pendingText("waits for wgmma groups", event.value);
    case EventKind::kProxyFence: return "executes a proxy fence";
    case EventKind::kClusterArrive: return "arrives at the cluster barrier";
    case EventKind::kClusterWait: return "waits at the cluster barrier";
    case EventKind::kTensormapEdit: return "edits a tensor map";
  }
  return "";
}

std::vector<Step> traceOf(const Run& run, Access first, Access second) {
  const machine::EventLog& log = run.outcome.log;
  std::vector<Step> steps{stepOf(run, first.event, first.lane)};
  EventId begin = first.event + 1;
  if (second.event - first.event > kMaxDistance) begin = second.event - kMaxDistance;
  for (EventId id = begin; id < second.event; ++id) {
    const Event& event = log[id];
    if (!isSynchronisation(event.kind)) continue;
    const bool by_first = event.warp == log[first.event].warp && (event.lanes & machine::laneBit(first.lane));
    const bool by_second = event.warp == log[second.event].warp && (event.lanes & machine::laneBit(second.lane));
    if (by_first) {
      steps.push_back(stepOf(run, id, first.lane));
    } else if (by_second) {
      steps.push_back(stepOf(run, id, second.lane));
    }
  }
  if (steps.size() >= kMaxSteps) {
    const std::size_t cut = steps.size() - (kMaxSteps - 3);
    const auto from = steps.begin() + 4;
    steps.erase(from, from + static_cast<std::ptrdiff_t>(cut));
    steps.insert(steps.begin() + 4, {"", "... " + std::to_string(cut) + " more steps ...", {}});
  }
  steps.push_back(stepOf(run, second.event, second.lane));
  return steps;
}

}  // namespace handoff::diagnose
