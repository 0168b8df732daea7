// SPDX-License-Identifier: Apache-2.0
// The race check: every access is compared with the last write of its bytes, every write also with the readers since.
//
// The order that is asked for (PTX ISA, "Memory Consistency Model: Causality Order"):
//   generic access -> anything      the observer's clock knows the accessing thread's epoch
//   cp.async       -> anything      the observer knows the copy to be *complete*: the issuer's wait (in its own program
//                                   order or through synchronisation after it), or an mbarrier phase that tracks it.
//                                   Program order does not contain the body of an asynchronous operation.
//   anything       -> cp.async      the first access is ordered before the *issue*, since a body starts after all
//                                   earlier instructions of its thread
// Races between strong accesses (atomics, volatile, qualified loads and stores) are none.
#include <algorithm>

#include "analyzer/machine/address.h"
#include "analyzer/machine/executor.h"

namespace handoff::machine {

EventId Executor::log(const Step& step, EventKind kind, LaneMask lanes, std::uint32_t value, bool is_strong) {
  return outcome_.log.add({.op = step.index,
                           .site = step.op.site,
                           .pass = ++step.warp.passes[step.index],
                           .epoch = step.warp.clock.epoch(),
                           .lanes = lanes,
                           .value = value,
                           .warp = step.warp.id,
                           .kind = kind,
                           .is_strong = is_strong});
}

bool Executor::isStartOrdered(EventId first, unsigned first_lane, const Warp& observer, unsigned lane) const {
  const Event& event = outcome_.log[first];
  if (event.warp == observer.id && first_lane == lane) return true;
  return observer.clock.knows(lane, event.warp * kWarpSize + first_lane, event.epoch);
}

bool Executor::isCompletionKnown(EventId copy, unsigned copy_lane, const Warp& observer, unsigned lane) const {
  const Event& event = outcome_.log[copy];
  const CopyGroups& groups = cta_.warps[event.warp].copies;
  const std::uint32_t group = outcome_.log.groupOf(copy, copy_lane);
  if (groups.isRetired(copy_lane, group)) {
    const bool own = event.warp == observer.id && copy_lane == lane;
    if (own) return true;
    if (observer.clock.knows(lane, event.warp * kWarpSize + copy_lane, groups.retireEpoch(copy_lane, group))) return true;
  }
  for (const CopyGroups::Tracked& tracked : groups.tracked(copy_lane)) {
    if (copy < tracked.upto && observer.clock.of(lane).at(tracked.barrier) >= tracked.known_from) return true;
  }
  return false;
}

bool Executor::isOrdered(EventId first, unsigned first_lane, const Warp& observer, unsigned lane) const {
  if (outcome_.log[first].kind == EventKind::kCopy) return isCompletionKnown(first, first_lane, observer, lane);
  return isStartOrdered(first, first_lane, observer, lane);
}

// What the reader had to do with the contents before the write of the pair.
void Executor::notePrevious(const Cell& cell, Access reader, bool reader_is_first, Conflict& conflict) const {
  const Event& event = outcome_.log[reader.event];
  const Warp& warp = cta_.warps[event.warp];
  // If the reader came first, the contents before the refill are still the cell's last write.
  const WriteId previous = reader_is_first ? cell.write : cell.previous_write;
  const ReadSetId reads = reader_is_first ? cell.reads : cell.previous_reads;
  read_sets_.forEach(reads, [&](const ReadSets::Node& node) {
    const Event& other = outcome_.log[node.event];
    if (other.warp != event.warp || !(node.lanes & laneBit(reader.lane))) return true;
    conflict.reader_used_previous |= node.event != reader.event;
    if (other.site != event.site) return true;
    conflict.reader_saw_previous |=
        reader_is_first ? (node.repeated & laneBit(reader.lane)) != 0 : other.epoch < event.epoch;
    return true;
  });
  conflict.has_previous_tile = previous != 0 && isOrdered(eventOf(previous), laneOf(previous), warp, reader.lane);
}

void Executor::noteCopy(Conflict& conflict) const {
  const Access copy = conflict.first;
  const Event& issue = outcome_.log[copy.event];
  const CopyGroups& groups = cta_.warps[issue.warp].copies;
  conflict.group = outcome_.log.groupOf(copy.event, copy.lane);
  conflict.is_committed = groups.isCommitted(copy.lane, conflict.group);
  conflict.is_retired = groups.isRetired(copy.lane, conflict.group);
  if (const auto* wait = groups.lastWaitAfter(copy.lane, copy.event)) conflict.wait = *wait;
  for (const CopyGroups::Tracked& tracked : groups.tracked(copy.lane)) conflict.is_tracked |= copy.event < tracked.upto;
  for (EventId id = copy.event + 1; id < conflict.second.event && !conflict.has_cta_barrier; ++id) {
    const Event& event = outcome_.log[id];
    conflict.has_cta_barrier =
        event.kind == EventKind::kCtaSync && event.warp == issue.warp && (event.lanes & laneBit(copy.lane)) != 0;
  }
}

void Executor::report(Access first, Access second, const Cell& cell, std::uint64_t address, ptx::Space space,
                      bool reader_is_first) {
  const Event& a = outcome_.log[first.event];
  const Event& b = outcome_.log[second.event];
  const bool is_read_write = reader_is_first || b.kind == EventKind::kRead;
  const int kind = reader_is_first ? 1 : b.kind == EventKind::kRead ? 2 : 3;
  const EventId reader = is_read_write ? (reader_is_first ? first.event : second.event) : 0;
  const auto [known, is_new] = reported_.try_emplace({a.site, b.site, kind}, outcome_.conflicts.size());
  if (!is_new) {
    Conflict& conflict = outcome_.conflicts[known->second];
    if (reader == 0 || std::find(conflict.reads.rbegin(), conflict.reads.rend(), reader) != conflict.reads.rend()) return;
    conflict.has_more |= conflict.reads.size() >= kMaxReads;
    if (!conflict.has_more) conflict.reads.push_back(reader);
    return;
  }
  const Warp& observer = cta_.warps[b.warp];
  Conflict conflict;
  conflict.first = first;
  conflict.second = second;
  conflict.space = space;
  conflict.address = address;
  if (reader != 0) conflict.reads.push_back(reader);
  conflict.is_source = space == ptx::Space::kGlobal;
  conflict.same_thread = a.warp == b.warp && first.lane == second.lane;
  conflict.start_ordered = isStartOrdered(first.event, first.lane, observer, second.lane);
  if (a.kind == EventKind::kCopy) noteCopy(conflict);
  if (is_read_write) notePrevious(cell, reader_is_first ? first : second, reader_is_first, conflict);
  if (is_read_write) {
    const Access writer = reader_is_first ? second : first;
    followed_.emplace(makeWrite(writer.event, writer.lane), outcome_.conflicts.size());
  }
  outcome_.conflicts.push_back(conflict);
}

void Executor::noteOrderedRead(WriteId write, EventId event, LaneMask lanes) {
  constexpr std::size_t kMaxLaterReads = 16;
  const auto it = followed_.find(write);
  if (it == followed_.end()) return;
  Conflict& conflict = outcome_.conflicts[it->second];
  const bool reader_is_first = outcome_.log[conflict.first.event].kind == EventKind::kRead;
  const Access reader = reader_is_first ? conflict.first : conflict.second;
  const bool is_reader = outcome_.log[reader.event].warp == outcome_.log[event].warp && (lanes & laneBit(reader.lane));
  if (is_reader && conflict.later_reads.size() < kMaxLaterReads) conflict.later_reads.push_back(event);
}

// A later read shows what the reader wanted only if it is not itself in a race.
void Executor::judgeLaterReads() {
  std::set<EventId> racing;
  for (const Conflict& conflict : outcome_.conflicts) racing.insert(conflict.reads.begin(), conflict.reads.end());
  for (Conflict& conflict : outcome_.conflicts) {
    for (const EventId read : conflict.later_reads) conflict.reader_got_new |= !racing.contains(read);
  }
}

// Two strong accesses without an order: what the reader gets depends on the schedule.
void Executor::noteStrongRace(EventId read) {
  const Op& op = program_.ops[outcome_.log[read].op];
  if (op.dst_count == 0 || !program_.needs_shared_contents) return;
  const Arg& destination = arg(op, 0);
  const bool is_used = destination.kind == Arg::Kind::kVector ||
                       (destination.kind == Arg::Kind::kSlot && destination.slot != kNoSlot);
  if (!is_used) return;
  addLimit("the value of '" + op.decoded->opcode + "' depends on the order of threads; one order was run", op.instr);
}

void Executor::readCell(Cell& cell, EventId event, LaneMask lanes, std::uint64_t address, ptx::Space space) {
  const Event& read = outcome_.log[event];
  // Neighbouring cells mostly have one writer; its order with these readers needs asking once.
  const bool is_asked = asked_.event == event && asked_.lanes == lanes && asked_.write == cell.write;
  if (cell.write != 0 && !is_asked) {
    asked_ = {event, lanes, cell.write};
    const EventId writer = eventOf(cell.write);
    const unsigned writer_lane = laneOf(cell.write);
    if (read.is_strong && outcome_.log[writer].is_strong) {
      const unsigned lane = lowestLane(lanes);
      if (writer != event && !isOrdered(writer, writer_lane, cta_.warps[read.warp], lane)) noteStrongRace(event);
      if (writer == event && writer_lane != lane) noteStrongRace(event);  // lanes of one atomic, in some order
    } else if (writer != event) {
      const Warp& observer = cta_.warps[read.warp];
      // Lanes that share a clock and are not the writer know the same; asking one of each kind is enough.
      const bool shared = observer.clock.isShared(lanes);
      bool asked = false, is_unordered = false;
      LaneMask rest = lanes;
      while (rest != 0) {
        const unsigned lane = lowestLane(rest);
        rest &= rest - 1;
        const bool is_writer = outcome_.log[writer].warp == read.warp && writer_lane == lane;
        if (shared && asked && !is_writer) continue;
        asked |= !is_writer;
        if (isOrdered(writer, writer_lane, observer, lane)) continue;
        report({writer, writer_lane}, {event, lane}, cell, address, space, /*reader_is_first=*/false);
        is_unordered = true;
        break;
      }
      if (!is_unordered && !followed_.empty()) noteOrderedRead(cell.write, event, lanes);
    }
  }
  cell.reads = read_sets_.add(cell.reads, event, lanes);
}

void Executor::checkAgainstReaders(const Cell& cell, EventId event, unsigned lane, std::uint64_t address,
                                   ptx::Space space) {
  const Event& write = outcome_.log[event];
  const Warp& writer = cta_.warps[write.warp];
  read_sets_.forEach(cell.reads, [&](const ReadSets::Node& node) {
    const Event& read = outcome_.log[node.event];
    if (read.is_strong && write.is_strong) {
      const bool known = writer.clock.of(lane).coversWarp(read.warp * kWarpSize, node.lanes, read.epoch);
      const bool own = read.warp == write.warp && node.lanes == laneBit(lane);
      if (!known && !own && node.event != event) noteStrongRace(node.event);
      return true;
    }
    const bool all_known = read.kind != EventKind::kCopy &&
                           writer.clock.of(lane).coversWarp(read.warp * kWarpSize, node.lanes, read.epoch);
    LaneMask rest = all_known ? 0 : node.lanes;
    while (rest != 0) {
      const unsigned reader = lowestLane(rest);
      rest &= rest - 1;
      if (isOrdered(node.event, reader, writer, lane)) continue;
      report({node.event, reader}, {event, lane}, cell, address, space, /*reader_is_first=*/true);
      break;
    }
    return true;
  });
}

void Executor::writeCell(Cell& cell, EventId event, unsigned lane, std::uint64_t address, ptx::Space space) {
  const Event& write = outcome_.log[event];
  if (cell.write != 0 && eventOf(cell.write) != event) {
    const EventId before = eventOf(cell.write);
    const Event& old = outcome_.log[before];
    const bool is_copy = write.kind == EventKind::kCopy || old.kind == EventKind::kCopy;
    // The same bytes from the same source: the copies of a cooperative tail, of which any may win.
    const bool is_repeat = write.kind == EventKind::kCopy && old.kind == EventKind::kCopy &&
                           outcome_.log.contentKeyOf(before, laneOf(cell.write)) != 0 &&
                           outcome_.log.contentKeyOf(before, laneOf(cell.write)) == outcome_.log.contentKeyOf(event, lane);
    const bool both_strong = write.is_strong && old.is_strong;
    if (is_copy && !is_repeat && !both_strong &&
        !isOrdered(before, laneOf(cell.write), cta_.warps[write.warp], lane)) {
      report({before, laneOf(cell.write)}, {event, lane}, cell, address, space, /*reader_is_first=*/false);
    }
  }
  if (cell.reads != 0) checkAgainstReaders(cell, event, lane, address, space);
  read_sets_.release(cell.previous_reads);
  cell.previous_write = cell.write;
  cell.previous_reads = cell.reads;
  cell.write = makeWrite(event, lane);
  cell.reads = 0;
}

namespace {

template <typename CellAt, typename StepOn>
void forEachCell(std::uint64_t begin, std::uint64_t end, unsigned granule, CellAt&& cell_at, StepOn&& step) {
  for (std::uint64_t at = begin; at < end; at += granule) step(cell_at(at), at);
}

}  // namespace

void Executor::readShared(const Range& range, EventId event) {
  if (watch_ != nullptr) return;
  const unsigned granule = cta_.shadow->granule();
  forEachCell(range.address, range.address + range.bytes, granule,
              [&](std::uint64_t at) -> Cell& { return cta_.shadow->at(at - kSharedBase); },
              [&](Cell& cell, std::uint64_t at) { readCell(cell, event, range.lanes, at, ptx::Space::kShared); });
}

void Executor::writeShared(const Range& range, EventId event) {
  if (watch_ != nullptr) return;
  const unsigned granule = cta_.shadow->granule();
  const unsigned lane = lowestLane(range.lanes);
  forEachCell(range.address, range.address + range.bytes, granule,
              [&](std::uint64_t at) -> Cell& { return cta_.shadow->at(at - kSharedBase); },
              [&](Cell& cell, std::uint64_t at) { writeCell(cell, event, lane, at, ptx::Space::kShared); });
}

// Whether a store meets the source of a copy cannot be told when either address is unknown.
void Executor::limitUnknownSources() {
  const bool has_copies = has_unknown_source_ || !copied_buffers_.empty();
  const bool has_stores = has_unknown_store_ || !stored_buffers_.empty();
  const bool is_open = (has_unknown_store_ && has_copies) || (has_unknown_source_ && has_stores);
  if (is_open) {
    addLimit("an address in global memory depends on data that is not known before the launch: whether a store overwrites "
             "the source of a copy was not checked", 0);
  }
}

bool Executor::isTrackedSource(std::uint64_t address, bool is_copy) {
  const std::uint64_t buffer = address >> kBufferShift;
  (is_copy ? copied_buffers_ : stored_buffers_).insert(buffer);
  return setup_.tracked.contains(buffer);
}

void Executor::readGlobal(const Range& range, EventId event) {
  if (!isTrackedSource(range.address, /*is_copy=*/true)) return;
  forEachCell(range.address & ~std::uint64_t{3}, range.address + range.bytes, PagedShadow::kGranule,
              [&](std::uint64_t at) -> Cell& { return cta_.global_shadow.at(at); },
              [&](Cell& cell, std::uint64_t at) { readCell(cell, event, range.lanes, at, ptx::Space::kGlobal); });
}

void Executor::writeGlobal(const Range& range, EventId event) {
  if (!isTrackedSource(range.address, /*is_copy=*/false)) return;
  forEachCell(range.address & ~std::uint64_t{3}, range.address + range.bytes, PagedShadow::kGranule,
              [&](std::uint64_t at) -> Cell& { return cta_.global_shadow.at(at); },
              [&](Cell& cell, std::uint64_t at) {
                writeCell(cell, event, lowestLane(range.lanes), at, ptx::Space::kGlobal);
              });
}

}  // namespace handoff::machine
