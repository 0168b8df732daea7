// SPDX-License-Identifier: Apache-2.0
// The touches of a run, replayed over bytes.
#include "analyzer/mutate/reads_from.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <unordered_map>

#include "analyzer/machine/machine.h"
#include "analyzer/machine/run_trace.h"

namespace handoff::mutate {

using machine::Event;
using machine::EventId;
using machine::RunTrace;

namespace {

constexpr std::uint64_t kMaxSteps = 2'000'000;
constexpr double kMaxSeconds = 20;

std::uint64_t mix(std::uint64_t hash, std::uint64_t value) {
  hash ^= value + 0x9e3779b97f4a7c15u + (hash << 6) + (hash >> 2);
  hash *= 0xff51afd7ed558ccdu;
  return hash ^ (hash >> 33);
}

struct Traced {
  machine::Outcome outcome;
  RunTrace trace;
  bool isWhole() const { return !outcome.was_stopped && !outcome.has_unmodelled && outcome.stuck.empty(); }
};

Traced runTraced(const machine::Program& program, const machine::Launch& launch) {
  Traced traced;
  traced.trace.records_touches = true;
  machine::RunOptions options;
  options.max_steps = kMaxSteps;
  options.max_seconds = kMaxSeconds;
  options.trace = &traced.trace;
  traced.outcome = machine::run(program, launch, options);
  return traced;
}

}  // namespace

ReadsFrom readsFrom(const machine::Program& program, const machine::Launch& launch,
                    const std::vector<std::uint32_t>& origin) {
  const Traced traced = runTraced(program, launch);
  ReadsFrom result;
  result.has_left_memory = traced.outcome.has_left_memory;
  if (!traced.isWhole()) return result;
  const auto nameOf = [&](EventId id) {
    const Event& event = traced.outcome.log[id];
    const std::uint32_t instr = program.ops[event.op].instr;
    const std::uint32_t number = instr < origin.size() ? origin[instr] : 0xffffffffu;
    return mix(mix(number, event.warp), event.pass);
  };
  std::map<std::uint32_t, std::vector<std::uint64_t>> last;  // by CTA and byte: the name of the write that came last
  std::unordered_map<EventId, std::uint64_t> seen;
  for (const RunTrace::Touch& touch : traced.trace.touches) {
    std::vector<std::uint64_t>& writes = last[touch.cta];
    if (writes.size() < touch.address + touch.bytes) writes.resize(touch.address + touch.bytes);
    const auto begin = writes.begin() + static_cast<std::ptrdiff_t>(touch.address);
    if (touch.is_write) {
      std::fill(begin, begin + touch.bytes, nameOf(touch.event));
      continue;
    }
    std::uint64_t& sees = seen.try_emplace(touch.event, 0).first->second;
    sees = mix(mix(sees, touch.address), touch.cta);
    for (std::uint32_t byte = 0; byte < touch.bytes; ++byte) sees = mix(sees, begin[byte]);
  }
  std::vector<Seen>& reads = result.seen.emplace();
  reads.reserve(seen.size());
  for (const auto& [id, writes] : seen) {
    const Event& event = traced.outcome.log[id];
    reads.push_back({nameOf(id), writes, {event.warp, program.ops[event.op].instr, event.pass}});
  }
  std::sort(reads.begin(), reads.end());
  return result;
}

std::vector<machine::ReadInstance> readsOnlyIn(const std::vector<Seen>& these, const std::vector<Seen>& others) {
  std::vector<Seen> only;
  std::set_difference(these.begin(), these.end(), others.begin(), others.end(), std::back_inserter(only));
  std::vector<machine::ReadInstance> reads;
  for (const Seen& seen : only) reads.push_back(seen.read);
  return reads;
}

std::vector<std::pair<std::uint32_t, std::int64_t>> slotBytes(const machine::Program& program, const machine::Launch& launch) {
  const Traced traced = runTraced(program, launch);
  // By copy and warp: where its first touch of each turn goes.
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::set<std::uint64_t>> places;
  std::set<EventId> known;
  for (const RunTrace::Touch& touch : traced.trace.touches) {
    const Event& event = traced.outcome.log[touch.event];
    if (!touch.is_write || !machine::isCopy(event.kind) || !known.insert(touch.event).second) continue;
    places[{program.ops[event.op].instr, event.warp}].insert(touch.address);
  }
  std::map<std::uint32_t, std::int64_t> bytes;
  for (const auto& [key, addresses] : places) {
    for (auto next = addresses.begin(); next != addresses.end(); ++next) {
      if (next == addresses.begin()) continue;
      const auto distance = static_cast<std::int64_t>(*next - *std::prev(next));
      const auto [known_bytes, is_new] = bytes.try_emplace(key.first, distance);
      if (!is_new) known_bytes->second = std::min(known_bytes->second, distance);
    }
  }
  return {bytes.begin(), bytes.end()};
}

}  // namespace handoff::mutate
