// SPDX-License-Identifier: Apache-2.0
// Groups by counting, as the hardware does it; phases of mbarriers by what the run noted.
#include "analyzer/machine/match_waits.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

namespace handoff::machine {

namespace {

/// Pairs issues and waits.
class Matcher {
 public:
  Matcher(const EventLog& log, const RunTrace& trace, const Found& found, const Waited& waited)
      : log_(log), trace_(trace), found_(found), waited_(waited) {}

  void run() {
    for (EventId id = 1; id < log_.end(); ++id) {
      const Event& event = log_[id];
      switch (event.kind) {
        case EventKind::kCopy: issue(id, kCopies, log_.groupOf(id, lowestLane(event.lanes))); break;
        case EventKind::kBulk:
        case EventKind::kAsyncStore:
        case EventKind::kMma: issueOp(id); break;
        case EventKind::kCommit: commit(event, kCopies); break;
        case EventKind::kBulkCommit: commit(event, kBulks); break;
        case EventKind::kMmaCommit: commit(event, kMatrices); break;
        case EventKind::kWaitGroup: waitGroup(id, kCopies, event.value); break;
        case EventKind::kBulkWait:
        case EventKind::kBulkReadWait: waitGroup(id, kBulks, event.value); break;
        case EventKind::kMmaWait: waitGroup(id, kMatrices, event.value); break;
        case EventKind::kWaitAll: waitAll(id); break;
        case EventKind::kCopyArrive: track(id); break;
        case EventKind::kMbarrierWait: waitPhase(id); break;
        default: break;
      }
    }
  }

 private:
  enum Queue : std::uint8_t { kCopies, kBulks, kMatrices, kQueues };
  /// An operation that no wait of its thread has covered.
  struct Open { EventId issue = 0; unsigned lane = 0; std::uint32_t group = 0; bool is_tracked = false; };
  struct OfWarp {
    std::array<std::vector<Open>, kQueues> open;
    std::array<std::array<std::uint32_t, kWarpSize>, kQueues> committed{};
  };

  void issue(EventId id, Queue queue, std::uint32_t group) {
    const Event& event = log_[id];
    warps_[event.warp].open[queue].push_back({id, lowestLane(event.lanes), group});
  }

  void issueOp(EventId id) {
    const Event& event = log_[id];
    // One thread stands for all that issue alike.
    const AsyncOp* op = log_.findOp(id, lowestLane(event.lanes));
    if (op == nullptr) return;
    if (op->group != AsyncOp::kNoGroup) issue(id, event.kind == EventKind::kMma ? kMatrices : kBulks, op->group);
    for (const AsyncOp::Completion& completion : op->completions)
      by_phase_[{completion.barrier, completion.phases}].push_back(id);
  }

  void commit(const Event& event, Queue queue) {
    forEachLane(event.lanes, [&](unsigned lane) { ++warps_[event.warp].committed[queue][lane]; });
  }

  void waitGroup(EventId id, Queue queue, std::uint32_t allowed) {
    const Event& event = log_[id];
    OfWarp& warp = warps_[event.warp];
    std::set<std::uint32_t> groups;
    std::erase_if(warp.open[queue], [&](const Open& open) {
      if (!(event.lanes & laneBit(open.lane))) return false;
      const std::uint32_t committed = warp.committed[queue][open.lane];
      if (open.group < committed) groups.insert(open.group);
      if (open.group + allowed >= committed) return false;
      if (!open.is_tracked) found_(open.issue, id);
      return true;
    });
    waited_(id, static_cast<std::uint32_t>(groups.size()));
  }

  void waitAll(EventId id) {
    const Event& event = log_[id];
    std::set<std::uint32_t> groups;
    std::erase_if(warps_[event.warp].open[kCopies], [&](const Open& open) {
      if (!(event.lanes & laneBit(open.lane))) return false;
      groups.insert(open.group);
      if (!open.is_tracked) found_(open.issue, id);
      return true;
    });
    waited_(id, static_cast<std::uint32_t>(groups.size()));
  }

  // cp.async.mbarrier.arrive: the phase completes no earlier than the copies that its threads had issued.
  void track(EventId id) {
    const RunTrace::Phase* const phase = phaseOf(trace_.tracked, id);
    if (phase == nullptr) return;
    const Event& event = log_[id];
    for (Open& open : warps_[event.warp].open[kCopies]) {
      if (open.is_tracked || !(event.lanes & laneBit(open.lane))) continue;
      open.is_tracked = true;
      by_phase_[{phase->barrier, phase->phases}].push_back(open.issue);
    }
  }

  void waitPhase(EventId id) {
    const RunTrace::Phase* const phase = phaseOf(trace_.waits, id);
    if (phase == nullptr) return;
    const auto issues = by_phase_.find({phase->barrier, phase->phases});
    // Lanes, and repeated polls, of one warp are one wait.
    if (issues == by_phase_.end() || !seen_.insert({phase->barrier, phase->phases, log_[id].warp}).second) return;
    for (const EventId issue : issues->second) found_(issue, id);
  }

  static const RunTrace::Phase* phaseOf(const std::vector<RunTrace::Phase>& phases, EventId id) {
    const auto found = std::lower_bound(phases.begin(), phases.end(), id,
                                        [](const RunTrace::Phase& phase, EventId wanted) { return phase.event < wanted; });
    return found == phases.end() || found->event != id ? nullptr : &*found;
  }

  const EventLog& log_;
  const RunTrace& trace_;
  const Found& found_;
  const Waited& waited_;
  std::map<std::uint16_t, OfWarp> warps_;
  std::map<std::pair<ActorId, Epoch>, std::vector<EventId>> by_phase_;
  std::set<std::tuple<ActorId, Epoch, std::uint16_t>> seen_;
};

}  // namespace

void matchWaits(const EventLog& log, const RunTrace& trace, const Found& found, const Waited& waited) {
  Matcher(log, trace, found, waited).run();
}

}  // namespace handoff::machine
