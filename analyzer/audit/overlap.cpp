// SPDX-License-Identifier: Apache-2.0
// Weighs what lies between an issue and the wait that covers it.
//
// A pair of an issue and a wait is judged by the warp that waits: what it executes after the issue, wherever that was,
// and before its wait. For a warp that issues its own copies this is its program order. For a producer of its own it is
// the canonical schedule, in which a producer runs ahead as far as its ring lets it: with one slot nothing ever lies
// between, with more there is a turn that has the work of the slots before.
#include "analyzer/audit/overlap.h"

#include <algorithm>

#include "analyzer/machine/match_waits.h"

namespace handoff::audit {

using machine::EventId;
using machine::RunTrace;

namespace {

Work operator-(const Work& a, const Work& b) {
  return {a.arithmetic - b.arithmetic, a.shared - b.shared, a.global - b.global};
}

/// The work of each warp up to each of its steps.
class Progress {
 public:
  Progress(const machine::Program& program, const WorkKinds& kinds, const RunTrace& trace) : trace_(trace) {
    std::map<std::uint16_t, Work> now;
    for (std::size_t i = 0; i < trace.steps.size(); ++i) {
      const RunTrace::Step& step = trace.steps[i];
      Work& work = now[step.warp];
      switch (kinds.of(program.ops[step.op].instr)) {
        case WorkKinds::Kind::kNone: continue;
        case WorkKinds::Kind::kArithmetic: ++work.arithmetic; break;
        case WorkKinds::Kind::kShared: ++work.shared; break;
        case WorkKinds::Kind::kGlobal: ++work.global; break;
      }
      of_warp_[step.warp].push_back({i, work});
    }
  }

  Work between(std::uint16_t warp, EventId issue, EventId wait) const {
    return before(warp, stepOf(wait)) - before(warp, stepOf(issue));
  }

 private:
  struct At { std::size_t step = 0; Work work; };

  /// The step that logged the event: the last one that had not seen it.
  std::size_t stepOf(EventId event) const {
    const auto next = std::upper_bound(trace_.steps.begin(), trace_.steps.end(), event,
                                       [](EventId id, const RunTrace::Step& step) { return id < step.next_event; });
    return static_cast<std::size_t>(next - trace_.steps.begin()) - 1;
  }

  Work before(std::uint16_t warp, std::size_t step) const {
    const auto found = of_warp_.find(warp);
    if (found == of_warp_.end()) return {};
    const auto next = std::lower_bound(found->second.begin(), found->second.end(), step,
                                       [](const At& at, std::size_t wanted) { return at.step < wanted; });
    return next == found->second.begin() ? Work{} : std::prev(next)->work;
  }

  const RunTrace& trace_;
  std::map<std::uint16_t, std::vector<At>> of_warp_;
};

}  // namespace

std::string describeWait(const machine::Program& program, std::uint32_t index) {
  const ptx::Instruction& instr = program.function.instructions[index];
  const bool has_count = !instr.operands.empty() && instr.operands[0].kind == ptx::Operand::Kind::kImmediate;
  return has_count ? instr.opcode + " " + std::to_string(instr.operands[0].imm) : instr.opcode;
}

Overlaps::Overlaps(const machine::Program& whole, Lowered& lowered)
    : program_(whole), lowered_(lowered), kinds_(whole, lowered) {}

void Overlaps::add(const machine::Outcome& outcome, const RunTrace& trace) {
  const Progress progress(program_, kinds_, trace);
  for (const RunTrace::Step& step : trace.steps) {
    const std::uint32_t instr = program_.ops[step.op].instr;
    const std::uint32_t call = lowered_.call_of[instr];
    if (call != kNoCall) ++lowered_.calls[call].instructions[lowered_.place_of[instr]].executed;
  }
  const auto instrOf = [&](EventId id) { return program_.ops[outcome.log[id].op].instr; };
  const auto found = [&](EventId issued, EventId waited_at) {
    const std::uint32_t call = lowered_.call_of[instrOf(issued)], wait = instrOf(waited_at);
    if (call == kNoCall) return;
    const Work work = progress.between(outcome.log[waited_at].warp, issued, waited_at);
    Overlap& overlap = by_wait_[{call, wait}];
    if (overlap.instances == 0 || work.total() < overlap.least.total()) overlap.least = work;
    if (overlap.instances == 0 || work.total() > overlap.most.total()) overlap.most = work;
    ++overlap.instances;
  };
  const auto waited = [&](EventId id, std::uint32_t pending) {
    std::uint32_t& most = most_pending_[instrOf(id)];
    most = std::max(most, pending);
  };
  machine::matchWaits(outcome.log, trace, found, waited);
}

void Overlaps::finish() {
  for (auto& [key, overlap] : by_wait_) {
    const auto [call, wait] = key;
    overlap.stack = program_.stackOf(wait);
    overlap.wait = describeWait(program_, wait);
    std::vector<Overlap>& known = lowered_.calls[call].overlaps;
    // Copies of a wait that the compiler made are one wait of the source.
    const auto same = std::find_if(known.begin(), known.end(), [&](const Overlap& other) {
      return other.stack == overlap.stack && other.wait == overlap.wait;
    });
    if (same == known.end()) {
      known.push_back(std::move(overlap));
      continue;
    }
    same->instances += overlap.instances;
    if (overlap.least.total() < same->least.total()) same->least = overlap.least;
    if (overlap.most.total() > same->most.total()) same->most = overlap.most;
  }
}

}  // namespace handoff::audit
