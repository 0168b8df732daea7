// SPDX-License-Identifier: Apache-2.0
// The checks of one access against what the shadow remembers.
#include "analyzer/machine/races.h"

#include <algorithm>

#include "analyzer/machine/address.h"
#include "analyzer/machine/run_trace.h"

namespace handoff::machine {

// A read need not be visible to a write after it, only over: there an execution edge will do where a hand-over of data
// would ask for causality order (CUTLASS and others release slots across CTAs with arrivals of CTA scope). The same
// goes for a copy that refills what another copy filled: neither hands data to the other.
bool RaceChecker::isOrdered(Access first, Part part, const Second& second) const {
  const Event& after = run_.log()[second.event];
  const Event& before = run_.log()[first.event];
  const Order::Observer observer{run_.cluster.warps[after.warp], second.lane};
  if (order_.isKnown(first, part, second.cta, observer)) return true;
  const bool is_refill = !second.reads && isAsync(before.kind);
  const bool past_will_do = part == Part::kRead || is_refill;
  // An asynchronous operation is over once its phase or its wait is; a load of a thread may still be on its way when the
  // thread has gone on.
  const View enough = isAsync(before.kind) ? View::kTime : View::kPast;
  if (past_will_do && order_.isKnown(first, part, second.cta, observer, enough)) return true;
  const bool is_load = part == Part::kRead && !isAsync(before.kind);
  return is_load && isAsyncProxy(after.kind) && order_.isStartKnown(first, observer, View::kConverged);
}

RaceChecker::Verdict RaceChecker::judge(Access first, Part part, const Second& second) {
  Judged& known = judged_[first.event % judged_.size()];
  const bool is_known = known.first.event == first.event && known.first.lane == first.lane && known.second == second.event &&
                        known.lane == second.lane && known.part == part;
  if (is_known) return Verdict::kFine;
  const Verdict verdict = judgeAnew(first, part, second);
  // In a multicast the same copy writes several CTAs, for each of which it is asked apart.
  if (verdict == Verdict::kFine && !isCopy(run_.log()[first.event].kind)) known = {first, second.event, second.lane, part};
  return verdict;
}

RaceChecker::Verdict RaceChecker::judgeAnew(Access first, Part part, const Second& second) const {
  const Event& after = run_.log()[second.event];
  const Event& before = run_.log()[first.event];
  // What one thread gives the tensor cores to do is done in that order.
  const bool is_one_queue = before.kind == EventKind::kMma && after.kind == EventKind::kMma && before.warp == after.warp;
  if (is_one_queue) return Verdict::kFine;
  if (!isOrdered(first, part, second)) {
    // A multiplication is the warp's: what any of its lanes has waited for is over before it starts.
    if (after.kind != EventKind::kMma) return Verdict::kUnordered;
    Second other = second;
    bool is_known = false;
    for (other.lane = 0; other.lane < kWarpSize && !is_known; ++other.lane) is_known = isOrdered(first, part, other);
    if (!is_known) return Verdict::kUnordered;
  }
  const bool is_tensor_memory = second.space == ptx::Space::kShared && second.address >= kTensorBase;
  if (is_tensor_memory || isAsyncProxy(before.kind) || !isAsyncProxy(after.kind)) return Verdict::kFine;
  const View fenced = second.space == ptx::Space::kGlobal ? View::kFencedGlobal : View::kFencedShared;
  const Order::Observer observer{run_.cluster.warps[after.warp], second.lane};
  if (order_.isKnown(first, part, second.cta, observer, fenced)) return Verdict::kFine;
  if (after.kind == EventKind::kMma) {
    for (unsigned lane = 0; lane < kWarpSize; ++lane) {
      if (order_.isKnown(first, part, second.cta, {observer.warp, lane}, fenced)) return Verdict::kFine;
    }
  }
  // A load whose value the thread has needed since cannot be overtaken, whatever the proxy.
  const bool has_returned = part == Part::kRead && (order_.isStartKnown(first, observer, View::kReturned) ||
                                                    order_.isStartKnown(first, observer, View::kConverged));
  return has_returned ? Verdict::kFine : Verdict::kUnfenced;
}

void RaceChecker::readCell(Cell& cell, LaneMask lanes, const Second& second, bool is_recorded) {
  const EventId event = second.event;
  const Event& read = run_.log()[event];
  const bool is_asked = candidates_ == nullptr && asked_.event == event && asked_.lanes == lanes && asked_.write == cell.write;
  if (cell.write != 0 && !is_asked) {
    if (candidates_ == nullptr) asked_ = {event, lanes, cell.write};
    const Access writer{eventOf(cell.write), laneOf(cell.write)};
    if (read.is_strong && run_.log()[writer.event].is_strong) {
      const bool is_own = writer.event == event && writer.lane == lowestLane(lanes);
      if (!is_own && (writer.event == event || !isOrdered(writer, Part::kWrite, second))) noteStrongRace(event);
    } else if (writer.event != event) {
      const Warp& observer = run_.cluster.warps[read.warp];
      // Lanes that share a clock and are not the writer know the same; asking one of each kind is enough.
      const bool shared = observer.clock.isShared(lanes);
      bool asked = false, is_unordered = false;
      LaneMask rest = lanes;
      while (rest != 0) {
        Second one = second;
        one.lane = lowestLane(rest);
        rest &= rest - 1;
        const bool is_writer = run_.log()[writer.event].warp == read.warp && writer.lane == one.lane;
        if (shared && asked && !is_writer) continue;
        asked |= !is_writer;
        const Verdict verdict = judge(writer, Part::kWrite, one);
        if (verdict == Verdict::kFine) continue;
        report(writer, one, cell, /*reader_is_first=*/false, verdict == Verdict::kUnfenced);
        is_unordered = true;
        break;
      }
      if (!is_unordered && !followed_.empty() && candidates_ == nullptr) noteOrderedRead(cell.write, event, lanes);
    }
  }
  if (is_recorded) cell.reads = read_sets_.add(cell.reads, event, lanes);
}

void RaceChecker::checkAgainstReaders(const Cell& cell, const Second& second) {
  const Event& write = run_.log()[second.event];
  const Warp& writer = run_.cluster.warps[write.warp];
  const Clock& clock = writer.clock.of(second.lane);
  read_sets_.forEach(cell.reads, [&](const ReadSets::Node& node) {
    const Event& read = run_.log()[node.event];
    if (read.is_strong && write.is_strong) {
      const bool known = clock.coversWarp(read.warp * kWarpSize, node.lanes, read.epoch);
      const bool own = read.warp == write.warp && node.lanes == laneBit(second.lane);
      if (!known && !own && node.event != second.event) noteStrongRace(node.event);
      return true;
    }
    const bool all_known = !isAsync(read.kind) && !isAsyncProxy(write.kind) &&
                           clock.coversWarp(read.warp * kWarpSize, node.lanes, read.epoch);
    LaneMask rest = all_known ? 0 : node.lanes;
    while (rest != 0) {
      const Access reader{node.event, lowestLane(rest)};
      rest &= rest - 1;
      if (node.event == second.event && reader.lane == second.lane) continue;
      const Verdict verdict = judge(reader, Part::kRead, second);
      if (verdict == Verdict::kFine) continue;
      report(reader, second, cell, /*reader_is_first=*/true, verdict == Verdict::kUnfenced);
      break;
    }
    return true;
  });
}

// Two ordinary writes may race; what a copy writes, or writes over, may not.
bool RaceChecker::isOverwriteChecked(const Event& old, const Event& write, std::uint64_t address) const {
  const bool both_strong = write.is_strong && old.is_strong && isAsyncProxy(write.kind) == isAsyncProxy(old.kind);
  return (isCopy(write.kind) || isCopy(old.kind) || address >= kTensorBase) && !both_strong;
}

void RaceChecker::checkAgainstWriter(const Cell& cell, const Second& second) {
  const Access before{eventOf(cell.write), laneOf(cell.write)};
  const Event& write = run_.log()[second.event];
  const Event& old = run_.log()[before.event];
  // The same bytes from the same source: the copies of a cooperative tail, of which any may win.
  const std::uint64_t key = run_.log().contentKeyOf(before.event, before.lane);
  const bool is_repeat = write.kind == EventKind::kCopy && old.kind == EventKind::kCopy && key != 0 &&
                         key == run_.log().contentKeyOf(second.event, second.lane);
  if (!isOverwriteChecked(old, write, second.address)) return;
  const Verdict verdict = judge(before, Part::kWrite, second);
  if (is_repeat) {
    run_.outcome.has_repeated_copies |= verdict != Verdict::kFine;
    return;
  }
  if (verdict == Verdict::kFine) {
    if (candidates_ == nullptr) asked_write_ = {second.event, laneBit(second.lane), cell.write};
    return;
  }
  report(before, second, cell, /*reader_is_first=*/false, verdict == Verdict::kUnfenced);
}

void RaceChecker::writeCell(Cell& cell, const Second& second) {
  const bool is_one_a_lane = run_.log()[second.event].kind == EventKind::kBulk;
  const bool is_same = eventOf(cell.write) == second.event && (!is_one_a_lane || laneOf(cell.write) == second.lane);
  const bool is_asked = asked_write_.event == second.event && asked_write_.lanes == laneBit(second.lane) &&
                        asked_write_.write == cell.write;
  if (cell.write != 0 && !is_same && !is_asked) checkAgainstWriter(cell, second);
  if (cell.reads != 0) checkAgainstReaders(cell, second);
  read_sets_.release(cell.previous_reads);
  cell.previous_write = cell.write;
  cell.previous_reads = cell.reads;
  cell.write = makeWrite(second.event, second.lane);
  cell.reads = 0;
}

template <typename Check>
void RaceChecker::forEachShared(const Range& range, Check&& check) {
  if (run_.options.skip_races) return;
  const bool is_tensor = range.address >= kTensorBase;
  Shadow& shadow = is_tensor ? *range.cta->tensor_shadow : *range.cta->shadow;
  const std::uint64_t base = is_tensor ? kTensorBase : kSharedBase;
  for (std::uint64_t at = range.address; at < range.address + range.bytes; at += shadow.granule()) {
    check(shadow.at(at - base), at);
  }
}

void RaceChecker::trace(const Range& range, EventId event, bool is_write) {
  RunTrace* const trace = run_.options.trace;
  if (trace == nullptr || !trace->records_touches || range.address >= kTensorBase) return;
  trace->is_cut |= trace->touches.size() >= trace->max_touches;
  if (trace->is_cut) return;
  trace->touches.push_back({event, range.bytes, range.address, range.cta->rank, is_write});
}

void RaceChecker::readShared(const Range& range, EventId event, bool is_recorded) {
  trace(range, event, /*is_write=*/false);
  forEachShared(range, [&](Cell& cell, std::uint64_t at) {
    readCell(cell, range.lanes, {event, lowestLane(range.lanes), at, ptx::Space::kShared, range.cta->rank, /*reads=*/true}, is_recorded);
  });
  if (!range.cta->unknown.empty()) meetUnknown(range, event, /*writes=*/false);
}

void RaceChecker::writeShared(const Range& range, EventId event) {
  trace(range, event, /*is_write=*/true);
  forEachShared(range, [&](Cell& cell, std::uint64_t at) {
    writeCell(cell, {event, lowestLane(range.lanes), at, ptx::Space::kShared, range.cta->rank});
  });
  if (!range.cta->unknown.empty()) meetUnknown(range, event, /*writes=*/true);
}

bool RaceChecker::isTracked(std::uint64_t address, GlobalAccess access) {
  const std::uint64_t buffer = address >> kBufferShift;
  accessed_[static_cast<unsigned>(access)].insert(buffer);
  return tracked_.contains(buffer);
}

template <typename Check>
void RaceChecker::forEachGlobal(const Range& range, Check&& check) {
  for (std::uint64_t at = range.address & ~std::uint64_t{3}; at < range.address + range.bytes; at += PagedShadow::kGranule) {
    check(run_.cluster.global_shadow.at(at), at);
  }
}

void RaceChecker::readGlobal(const Range& range, EventId event, GlobalAccess access) {
  if (!isTracked(range.address, access)) return;
  forEachGlobal(range, [&](Cell& cell, std::uint64_t at) {
    readCell(cell, range.lanes, {event, lowestLane(range.lanes), at, ptx::Space::kGlobal, 0, /*reads=*/true}, /*is_recorded=*/true);
  });
}

void RaceChecker::writeGlobal(const Range& range, EventId event, GlobalAccess access) {
  if (!isTracked(range.address, access)) return;
  forEachGlobal(range, [&](Cell& cell, std::uint64_t at) {
    writeCell(cell, {event, lowestLane(range.lanes), at, ptx::Space::kGlobal, 0});
  });
}

Buffers RaceChecker::sharedBuffers() const {
  const auto of = [&](GlobalAccess access) -> const Buffers& { return accessed_[static_cast<unsigned>(access)]; };
  Buffers shared;
  for (const std::uint64_t buffer : of(GlobalAccess::kAsyncRead)) {
    if (of(GlobalAccess::kStore).contains(buffer) || of(GlobalAccess::kAsyncWrite).contains(buffer)) shared.insert(buffer);
  }
  // Two asynchronous stores may meet as well.
  shared.insert(of(GlobalAccess::kAsyncWrite).begin(), of(GlobalAccess::kAsyncWrite).end());
  return shared;
}

void RaceChecker::finish() {
  judgeLaterReads();
  limitUnknownSources();
}

// Whether a store meets the source of a copy cannot be told when either address is unknown.
void RaceChecker::limitUnknownSources() {
  const auto any = [&](GlobalAccess access) { return !accessed_[static_cast<unsigned>(access)].empty(); };
  const bool has_copies = has_unknown_source_ || any(GlobalAccess::kAsyncRead);
  const bool has_stores = has_unknown_store_ || any(GlobalAccess::kStore);
  const bool is_open = (has_unknown_store_ && has_copies) || (has_unknown_source_ && has_stores);
  if (is_open) {
    run_.addLimit("an address in global memory depends on data that is not known before the launch: whether a store "
                  "overwrites the source of a copy was not checked", 0);
  }
}

}  // namespace handoff::machine
