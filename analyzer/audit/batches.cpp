// SPDX-License-Identifier: Apache-2.0
// For each call the first warp that issues it stands for all: others count their groups alike, or copy into
// places of their own.
#include "analyzer/audit/batches.h"

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>
#include <vector>

#include "analyzer/audit/overlap.h"
#include "analyzer/machine/machine.h"
#include "analyzer/machine/match_waits.h"

namespace handoff::audit {

using machine::AsyncOp;
using machine::Event;
using machine::EventId;
using machine::EventKind;
using machine::RunTrace;

namespace {

constexpr std::size_t kMaxBatches = 8;

/// "ring[1][0]" -> "ring[1]": that a slot is filled from its start goes without saying.
std::string slotName(std::string place) {
  if (place.ends_with("][0]")) place.resize(place.size() - 3);
  return place;
}

class BatchMaker {
 public:
  BatchMaker(const machine::Program& program, const diagnose::Names& names, const machine::Outcome& outcome,
             const RunTrace& trace)
      : program_(program), names_(names), log_(outcome.log), trace_(trace) {}

  void make(Lowered& lowered) {
    for (EventId id = 1; id < log_.end(); ++id)
      if (machine::isAsync(log_[id].kind)) add(id, lowered);
    machine::matchWaits(
        log_, trace_, [&](EventId issue, EventId wait) { noteWait(issue, wait); },
        [](EventId, std::uint32_t) {});
    notePlaces();
    for (const Open& open : open_) {
      Call& call = lowered.calls[open.call];
      ++call.batch_count;
      if (call.batches.size() < kMaxBatches) call.batches.push_back(finish(open));
    }
  }

 private:
  /// Call, event, group; 0 for the event of copies that are in a group.
  using Key = std::tuple<std::uint32_t, EventId, std::uint32_t>;
  struct Open {
    std::uint32_t call = 0;
    EventId issue = 0, wait = 0;           ///< 0: none
    std::optional<std::uint64_t> address;  ///< the lowest one that any warp writes as a part of it
  };

  void add(EventId id, const Lowered& lowered) {
    const Event& event = log_[id];
    const std::uint32_t call = lowered.call_of[program_.ops[event.op].instr];
    if (call == kNoCall) return;
    // Copies of one group are one batch; what completes by itself is one each.
    const std::optional<std::uint32_t> group = groupOf(id);
    const Key key(call, group ? 0 : id, group.value_or(0));
    keys_[id] = key;
    if (warp_of_.try_emplace(call, event.warp).first->second != event.warp) return;
    const auto [found, is_new] = known_.try_emplace(key, open_.size());
    if (is_new) open_.push_back({call, id, 0, {}});
    batch_of_[id] = found->second;
  }

  const AsyncOp* opOf(EventId id) const { return log_.findOp(id, machine::lowestLane(log_[id].lanes)); }

  std::optional<std::uint32_t> groupOf(EventId id) const {
    if (log_[id].kind == EventKind::kCopy) return log_.groupOf(id, machine::lowestLane(log_[id].lanes));
    const AsyncOp* const op = opOf(id);
    return op == nullptr || op->group == AsyncOp::kNoGroup ? std::nullopt : std::optional(op->group);
  }

  void noteWait(EventId issue, EventId wait) {
    const auto batch = batch_of_.find(issue);
    if (batch != batch_of_.end() && open_[batch->second].wait == 0) open_[batch->second].wait = wait;
  }

  void notePlaces() {
    for (const RunTrace::Touch& touch : trace_.touches) {
      const auto key = keys_.find(touch.event);
      if (key == keys_.end() || !touch.is_write || touch.cta != 0) continue;
      const auto batch = known_.find(key->second);
      if (batch == known_.end()) continue;
      std::optional<std::uint64_t>& address = open_[batch->second].address;
      address = std::min(address.value_or(touch.address), touch.address);
    }
  }

  Batch finish(const Open& open) const {
    Batch batch;
    batch.name = nameOf(open);
    if (open.address)
      batch.place = slotName(diagnose::placeName(program_, names_, ptx::Space::kShared, *open.address));
    if (open.wait == 0) return batch;
    const std::uint32_t instr = program_.ops[log_[open.wait].op].instr;
    batch.wait = describeWait(program_, instr);
    batch.wait_stack = program_.stackOf(instr);
    return batch;
  }

  std::string nameOf(const Open& open) const {
    // Copies that arrive at an mbarrier are waited for there, whatever group they are in.
    if (open.wait != 0 && log_[open.wait].kind == EventKind::kMbarrierWait)
      return phaseName(log_.barrierOf(open.wait), log_[open.wait].value);
    if (const std::optional<std::uint32_t> group = groupOf(open.issue))
      return "group " + std::to_string(*group);
    const AsyncOp* const op = opOf(open.issue);
    if (op == nullptr || op->completions.empty()) return "no group";
    return phaseName(op->barrier_address, op->completions.front().phases - 1);
  }

  std::string phaseName(std::uint64_t barrier, std::uint64_t phase) const {
    const std::string text = "phase " + std::to_string(phase);
    if (barrier == 0) return text;
    return text + " of '" + diagnose::placeName(program_, names_, ptx::Space::kShared, barrier) + "'";
  }

  const machine::Program& program_;
  const diagnose::Names& names_;
  const machine::EventLog& log_;
  const RunTrace& trace_;
  std::map<std::uint32_t, std::uint16_t> warp_of_;  ///< by call
  std::map<Key, std::size_t> known_;                ///< batches
  std::map<EventId, Key> keys_;                     ///< of all warps
  std::map<EventId, std::size_t> batch_of_;         ///< of the warp that stands for all
  std::vector<Open> open_;
};

}  // namespace

void addBatches(const machine::Program& whole, const machine::Launch& launch, const diagnose::Names& names,
                std::uint64_t max_steps, Lowered& lowered) {
  RunTrace trace;
  trace.records_touches = true;
  machine::RunOptions run;
  run.trace = &trace;
  run.max_steps = max_steps;
  run.max_seconds = 10;
  const machine::Outcome outcome = machine::run(whole, launch, run);
  BatchMaker(whole, names, outcome, trace).make(lowered);
}

}  // namespace handoff::audit
