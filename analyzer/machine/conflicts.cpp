// SPDX-License-Identifier: Apache-2.0
// What is noted about a pair of accesses that nothing orders, at the moment it is met.
#include <algorithm>

#include "analyzer/machine/races.h"

namespace handoff::machine {

// What the reader had to do with the contents before the write of the pair.
void RaceChecker::notePrevious(const Cell& cell, Access reader, bool reader_is_first, Conflict& conflict) const {
  const Event& event = run_.log()[reader.event];
  const Warp& warp = run_.cluster.warps[event.warp];
  // If the reader came first, the contents before the refill are still the cell's last write.
  const WriteId previous = reader_is_first ? cell.write : cell.previous_write;
  const ReadSetId reads = reader_is_first ? cell.reads : cell.previous_reads;
  // A bulk copy of what its writer has updated in place wants the update.
  bool is_update = false;
  const Event& write = run_.log()[conflict.first.event];
  read_sets_.forEach(reads, [&](const ReadSets::Node& node) {
    const Event& other = run_.log()[node.event];
    const bool by_writer = other.warp == write.warp && (node.lanes & laneBit(conflict.first.lane)) != 0;
    is_update |= !reader_is_first && event.kind == EventKind::kBulk && by_writer;
    if (other.warp != event.warp || !(node.lanes & laneBit(reader.lane))) return true;
    conflict.reader_used_previous |= node.event != reader.event;
    if (other.site != event.site) return true;
    conflict.reader_saw_previous |=
        reader_is_first ? (node.repeated & laneBit(reader.lane)) != 0 : other.epoch < event.epoch;
    return true;
  });
  conflict.has_previous_tile =
      previous != 0 && !is_update &&
      order_.isKnown({eventOf(previous), laneOf(previous)}, Part::kWrite, conflict.cta, {warp, reader.lane});
}

void RaceChecker::noteCopy(Conflict& conflict, Part part) const {
  const Access copy = conflict.first;
  const Event& issue = run_.log()[copy.event];
  const Warp& issuer = run_.cluster.warps[issue.warp];
  const AsyncOp* op = run_.log().findOp(copy.event, copy.lane);
  const CopyGroups* groups = nullptr;
  if (issue.kind == EventKind::kCopy) {
    groups = &issuer.copies;
    conflict.group = run_.log().groupOf(copy.event, copy.lane);
    for (const CopyGroups::Tracked& phase : groups->tracked(copy.lane)) conflict.is_tracked |= copy.event < phase.upto;
  } else if (op != nullptr && op->group != AsyncOp::kNoGroup) {
    groups = issue.kind == EventKind::kMma ? &issuer.mma : part == Part::kRead ? &issuer.bulk_reads : &issuer.bulk;
    conflict.group = op->group;
  } else {
    conflict.is_tracked = op != nullptr && !op->completions.empty();
  }
  if (groups != nullptr) {
    const unsigned lane = issue.kind == EventKind::kMma ? 0 : copy.lane;
    conflict.is_committed = groups->isCommitted(lane, conflict.group);
    conflict.is_retired = groups->isRetired(lane, conflict.group);
    if (const auto* wait = groups->lastWaitAfter(lane, copy.event)) conflict.wait = *wait;
  }
  for (EventId id = copy.event + 1; id < conflict.second.event && !conflict.has_cta_barrier; ++id) {
    const Event& event = run_.log()[id];
    conflict.has_cta_barrier =
        event.kind == EventKind::kCtaSync && event.warp == issue.warp && (event.lanes & laneBit(copy.lane)) != 0;
  }
}

Conflict RaceChecker::describe(Access first, const Second& second, const Cell& cell, bool reader_is_first, bool is_unfenced) const {
  const Event& a = run_.log()[first.event];
  const Event& b = run_.log()[second.event];
  const Access last{second.event, second.lane};
  Conflict conflict;
  conflict.first = first;
  conflict.second = last;
  conflict.space = second.space;
  conflict.address = second.address;
  conflict.cta = second.cta;
  conflict.is_unfenced = is_unfenced;
  conflict.first_reads = reader_is_first;
  conflict.second_reads = second.reads;
  conflict.is_source = second.space == ptx::Space::kGlobal;
  conflict.same_thread = a.warp == b.warp && first.lane == second.lane;
  conflict.start_ordered = order_.isStartKnown(first, {run_.cluster.warps[b.warp], second.lane});
  if (isAsync(a.kind)) noteCopy(conflict, reader_is_first ? Part::kRead : Part::kWrite);
  if (reader_is_first || second.reads) notePrevious(cell, reader_is_first ? first : last, reader_is_first, conflict);
  return conflict;
}

void RaceChecker::follow(const Conflict& conflict, std::size_t index, std::size_t other) {
  const Access writer = conflict.first_reads ? conflict.second : conflict.first;
  followed_.emplace(makeWrite(writer.event, writer.lane), Followed{index, other});
}

bool RaceChecker::hasReaderOf(const Conflict& conflict, std::uint16_t warp) const {
  const auto isOf = [&](const Conflict& one) { return run_.log()[one.reader()].warp == warp; };
  return isOf(conflict) || std::any_of(conflict.others.begin(), conflict.others.end(), isOf);
}

void RaceChecker::report(Access first, const Second& second, const Cell& cell, bool reader_is_first, bool is_unfenced) {
  if (candidates_ != nullptr) return candidates_->push_back({first, second, cell, reader_is_first, is_unfenced});
  std::vector<Conflict>& conflicts = run_.outcome.conflicts;
  const EventId reader = reader_is_first ? first.event : second.reads ? second.event : 0;
  const auto [known, is_new] = reported_.try_emplace(keyOf({first, second, cell, reader_is_first, is_unfenced}), conflicts.size());
  if (is_new) {
    Conflict& conflict = conflicts.emplace_back(describe(first, second, cell, reader_is_first, is_unfenced));
    if (reader == 0) return;
    conflict.reads.push_back(reader);
    return follow(conflict, known->second, 0);
  }
  Conflict& conflict = conflicts[known->second];
  if (reader == 0 || std::find(conflict.reads.rbegin(), conflict.reads.rend(), reader) != conflict.reads.rend()) return;
  conflict.has_more |= conflict.reads.size() >= kMaxReads;
  if (conflict.has_more) return;
  conflict.reads.push_back(reader);
  if (conflict.others.size() >= kMaxOthers || hasReaderOf(conflict, run_.log()[reader].warp)) return;
  conflict.others.push_back(describe(first, second, cell, reader_is_first, is_unfenced));
  follow(conflict.others.back(), known->second, conflict.others.size());
}

void RaceChecker::noteOrderedRead(WriteId write, EventId event, LaneMask lanes) {
  constexpr std::size_t kMaxLaterReads = 16;
  const auto [begin, end] = followed_.equal_range(write);
  for (auto it = begin; it != end; ++it) {
    Conflict& whole = run_.outcome.conflicts[it->second.conflict];
    Conflict& conflict = it->second.other == 0 ? whole : whole.others[it->second.other - 1];
    const Access reader = conflict.first_reads ? conflict.first : conflict.second;
    const bool is_reader = run_.log()[reader.event].warp == run_.log()[event].warp && (lanes & laneBit(reader.lane));
    if (is_reader && conflict.later_reads.size() < kMaxLaterReads) conflict.later_reads.push_back(event);
  }
}

// A later read shows what the reader wanted only if it is not itself in a race.
void RaceChecker::judgeLaterReads() {
  std::set<EventId> racing;
  for (const Conflict& conflict : run_.outcome.conflicts) racing.insert(conflict.reads.begin(), conflict.reads.end());
  const auto judge = [&](Conflict& conflict) {
    for (const EventId read : conflict.later_reads) conflict.reader_got_new |= !racing.contains(read);
  };
  for (Conflict& conflict : run_.outcome.conflicts) {
    judge(conflict);
    for (Conflict& other : conflict.others) judge(other);
  }
}

// Two strong accesses without an order: what the reader gets depends on the schedule.
void RaceChecker::noteStrongRace(EventId read) {
  if (candidates_ != nullptr) return;
  const Op& op = run_.program.ops[run_.log()[read].op];
  if (op.dst_count == 0 || !run_.program.needs_shared_contents) return;
  const Arg& destination = run_.program.args[op.first_arg];
  const bool is_used = destination.kind == Arg::Kind::kVector ||
                       (destination.kind == Arg::Kind::kSlot && destination.slot != kNoSlot);
  if (!is_used) return;
  run_.addLimit("the value of '" + op.decoded->opcode + "' depends on the order of threads; one order was run", op.instr);
}

}  // namespace handoff::machine
