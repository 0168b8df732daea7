// SPDX-License-Identifier: Apache-2.0
#include "analyzer/explore/unused_reads.h"

#include <algorithm>
#include <iterator>
#include <vector>

#include "analyzer/machine/used_reads.h"

namespace handoff::explore {

namespace {

constexpr double kLeastSeconds = 5;

// The pair is told by a reader to whom it matters.
void preferUsed(machine::Conflict& conflict, const std::vector<bool>& is_used) {
  const auto used = std::find(is_used.begin(), is_used.end(), true);
  if (used == is_used.begin() || used == is_used.end()) return;
  std::vector<machine::EventId> reads = std::move(conflict.reads);
  machine::Conflict other = std::move(conflict.others[static_cast<std::size_t>(used - is_used.begin()) - 1]);
  conflict = std::move(other);
  conflict.reads = std::move(reads);
}

}  // namespace

void dropUnusedReads(const machine::Program& program, const machine::Launch& launch, const machine::RunOptions& options,
                     const std::function<const machine::Program*()>& whole, machine::Outcome& outcome) {
  const auto instanceOf = [&](machine::EventId id) -> machine::ReadInstance {
    const machine::Event& event = outcome.log[id];
    return {event.warp, program.ops[event.op].instr, event.pass};
  };
  // Of each conflict: all of its reads together, and those that it can be told by, one by one.
  std::vector<std::vector<machine::ReadInstance>> together, apart;
  std::vector<std::size_t> owner;
  for (std::size_t i = 0; i < outcome.conflicts.size(); ++i) {
    const machine::Conflict& conflict = outcome.conflicts[i];
    // A region that data decide on may be another one in the whole program, and its reads may count differently.
    if (conflict.reads.empty() || conflict.has_more || conflict.is_possible) continue;
    owner.push_back(i);
    auto& group = together.emplace_back();
    for (const machine::EventId id : conflict.reads) group.push_back(instanceOf(id));
    if (conflict.others.empty()) continue;
    apart.push_back({instanceOf(conflict.reader())});
    for (const machine::Conflict& other : conflict.others) apart.push_back({instanceOf(other.reader())});
  }
  const machine::Program* const everything = owner.empty() ? nullptr : whole();
  if (everything == nullptr) return;
  // A run that is cut short says nothing, and what it would have dropped is a false alarm: this one has its time.
  machine::RunOptions patient = options;
  patient.max_seconds = std::max(patient.max_seconds, kLeastSeconds);
  std::vector<std::vector<machine::ReadInstance>> all = std::move(together);
  std::move(apart.begin(), apart.end(), std::back_inserter(all));
  const std::vector<bool> used = machine::usedReads(*everything, launch, patient, all);
  auto one = used.begin() + static_cast<std::ptrdiff_t>(owner.size());
  for (const std::size_t index : owner) {
    machine::Conflict& conflict = outcome.conflicts[index];
    if (conflict.others.empty()) continue;
    const auto end = one + static_cast<std::ptrdiff_t>(1 + conflict.others.size());
    preferUsed(conflict, {one, end});
    one = end;
  }
  for (std::size_t r = owner.size(); r-- > 0;) {
    if (!used[r]) outcome.conflicts.erase(outcome.conflicts.begin() + static_cast<std::ptrdiff_t>(owner[r]));
  }
}

}  // namespace handoff::explore
