// SPDX-License-Identifier: Apache-2.0
#include "analyzer/explore/unused_reads.h"

#include <algorithm>
#include <vector>

#include "analyzer/machine/used_reads.h"

namespace handoff::explore {

namespace {

constexpr double kLeastSeconds = 5;

}  // namespace

void dropUnusedReads(const machine::Program& program, const machine::Launch& launch, const machine::RunOptions& options,
                     const std::function<const machine::Program*()>& whole, machine::Outcome& outcome) {
  std::vector<std::vector<machine::ReadInstance>> reads;
  std::vector<std::size_t> owner;
  for (std::size_t i = 0; i < outcome.conflicts.size(); ++i) {
    const machine::Conflict& conflict = outcome.conflicts[i];
    // A region that data decide on may be another one in the whole program, and its reads may count differently.
    if (conflict.reads.empty() || conflict.has_more || conflict.is_possible) continue;
    owner.push_back(i);
    auto& group = reads.emplace_back();
    for (const machine::EventId id : conflict.reads) {
      const machine::Event& event = outcome.log[id];
      group.push_back({event.warp, program.ops[event.op].instr, event.pass});
    }
  }
  const machine::Program* const everything = reads.empty() ? nullptr : whole();
  if (everything == nullptr) return;
  // A run that is cut short says nothing, and what it would have dropped is a false alarm: this one has its time.
  machine::RunOptions patient = options;
  patient.max_seconds = std::max(patient.max_seconds, kLeastSeconds);
  const std::vector<bool> used = machine::usedReads(*everything, launch, patient, reads);
  for (std::size_t r = reads.size(); r-- > 0;) {
    if (!used[r]) outcome.conflicts.erase(outcome.conflicts.begin() + static_cast<std::ptrdiff_t>(owner[r]));
  }
}

}  // namespace handoff::explore
