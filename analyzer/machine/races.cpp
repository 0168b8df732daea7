// SPDX-License-Identifier: Apache-2.0
// The checks of one access against what the shadow remembers.
#include "analyzer/machine/races.h"

#include <algorithm>
#include <utility>

#include "analyzer/machine/address.h"
#include "analyzer/machine/path.h"
#include "analyzer/machine/run_trace.h"
#include "analyzer/machine/skip_turns.h"

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

namespace {

// Strong accesses race if they are not in each other's scope (PTX ISA, "Morally strong operations"); what is not spelled
// is at least .gpu.
bool areMorallyStrong(const RunState& run, const Event& a, const Event& b) {
  if (!a.is_strong || !b.is_strong) return false;
  if (run.cluster.warps[a.warp].cta == run.cluster.warps[b.warp].cta) return true;
  const auto isNarrow = [&](const Event& event) { return run.program.ops[event.op].decoded->scope == ptx::Scope::kCta; };
  return !isNarrow(a) && !isNarrow(b);
}

}  // namespace

RaceChecker::Verdict RaceChecker::judge(Access first, Part part, const Second& second) {
  const std::uint32_t observer = run_.log()[second.event].warp;
  // Lanes that share a clock know the same of other warps.
  const bool is_alike = observer != run_.log()[first.event].warp && run_.cluster.warps[observer].clock.isShared(kAllLanes);
  const unsigned lane = is_alike ? 0 : second.lane;
  Judged& known = judged_[(first.event * kWarpSize + first.lane) % judged_.size()];
  const bool is_known = known.first.event == first.event && known.first.lane == first.lane && known.second == second.event &&
                        known.lane == lane && known.cta == second.cta && known.part == part && known.reads == second.reads;
  if (is_known) return Verdict::kFine;
  const Verdict verdict = judgeAnew(first, part, second);
  if (verdict == Verdict::kFine) known = {first, second.event, lane, second.cta, part, second.reads};
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

// Whether the read of these lanes is unordered behind the write, and reported.
bool RaceChecker::readAfter(Access writer, const Cell& cell, LaneMask lanes, const Second& second) {
  const Event& read = run_.log()[second.event];
  const Event& write = run_.log()[writer.event];
  if (areMorallyStrong(run_, read, write)) {
    const bool is_own = writer.event == second.event && writer.lane == lowestLane(lanes);
    if (!is_own && (writer.event == second.event || !isOrdered(writer, Part::kWrite, second))) noteStrongRace(second.event);
    return false;
  }
  if (writer.event == second.event) return false;
  LaneMask rest = lanes;
  if (run_.cluster.warps[read.warp].clock.isShared(lanes)) {
    // Lanes that share a clock and are not the writer know the same; asking one of each kind is enough.
    const LaneMask own = write.warp == read.warp ? lanes & laneBit(writer.lane) : 0;
    const LaneMask others = lanes & ~own;
    rest = own | (others & (~others + 1));
  }
  while (rest != 0) {
    Second one = second;
    one.lane = lowestLane(rest);
    rest &= rest - 1;
    const Verdict verdict = judge(writer, Part::kWrite, one);
    if (verdict == Verdict::kFine) continue;
    report(writer, one, cell, /*reader_is_first=*/false, verdict == Verdict::kUnfenced);
    return true;
  }
  return false;
}

// The writes that may have come last instead of the last one.
void RaceChecker::readUnordered(const Cell& cell, LaneMask lanes, const Second& second) {
  const Event& read = run_.log()[second.event];
  const Warp& observer = run_.cluster.warps[read.warp];
  const Clock& clock = observer.clock.of(lowestLane(lanes));
  const Access last{eventOf(cell.write), laneOf(cell.write)};
  read_sets_.forEach(cell.unordered, [&](const ReadSets::Node& node) {
    const Event& write = run_.log()[node.event];
    const bool is_plain = !isAsync(write.kind) && !isAsyncProxy(read.kind) && observer.clock.isShared(lanes);
    if (is_plain && clock.coversWarp(write.warp * kWarpSize, node.lanes, write.epoch)) return true;
    LaneMask rest = node.lanes;
    while (rest != 0) {
      const Access writer{node.event, lowestLane(rest)};
      rest &= rest - 1;
      // Of copies that bring the same bytes any will do.
      if (isSameContent(writer, last)) continue;
      if (readAfter(writer, cell, lanes, second)) break;
    }
    return true;
  });
}

void RaceChecker::readCell(Cell& cell, LaneMask lanes, const Second& second, bool is_recorded) {
  const EventId event = second.event;
  const Asked asked{event, lanes, cell.write, second.cta};
  if (cell.write != 0 && !(candidates_ == nullptr && asked_ == asked)) {
    if (candidates_ == nullptr) asked_ = asked;
    const Access writer{eventOf(cell.write), laneOf(cell.write)};
    const bool is_unordered = readAfter(writer, cell, lanes, second);
    const bool both_strong = run_.log()[event].is_strong && run_.log()[writer.event].is_strong;
    const bool is_ordered = !is_unordered && !both_strong && writer.event != event;
    if (is_ordered && !followed_.empty() && candidates_ == nullptr) noteOrderedRead(cell.write, event, lanes);
  }
  if (cell.unordered != 0) readUnordered(cell, lanes, second);
  if (is_recorded) cell.reads = read_sets_.add(cell.reads, event, lanes);
}

void RaceChecker::checkAgainstReaders(const Cell& cell, const Second& second) {
  const Event& write = run_.log()[second.event];
  const Warp& writer = run_.cluster.warps[write.warp];
  const Clock& clock = writer.clock.of(second.lane);
  read_sets_.forEach(cell.reads, [&](const ReadSets::Node& node) {
    const Event& read = run_.log()[node.event];
    if (areMorallyStrong(run_, read, write)) {
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

// The same bytes from the same source: the copies of a cooperative tail, of which any may win.
bool RaceChecker::isSameContent(Access first, Access second) const {
  if (run_.log()[first.event].kind != EventKind::kCopy || run_.log()[second.event].kind != EventKind::kCopy) return false;
  const std::uint64_t key = run_.log().contentKeyOf(first.event, first.lane);
  return key != 0 && key == run_.log().contentKeyOf(second.event, second.lane);
}

void RaceChecker::decideSameContent(Access first, Access second) {
  const auto one = copy_terms_.find(first.event), other = copy_terms_.find(second.event);
  if (run_.path == nullptr || (one == copy_terms_.end() && other == copy_terms_.end())) return;
  const CopyTerms a = one == copy_terms_.end() ? CopyTerms{} : one->second;
  const CopyTerms b = other == copy_terms_.end() ? CopyTerms{} : other->second;
  PathLog& path = *run_.path;
  symbolic::Terms& terms = path.terms();
  const auto decide = [&](symbolic::TermId x, symbolic::TermId y) {
    path.add({.condition = terms.equal(x, y), .lanes = 1, .truth = 1,
              .instr = run_.program.ops[run_.log()[second.event].op].instr});
  };
  const auto sourceOf = [&](const CopyTerms& of, Access copy) {
    if (of.source == symbolic::kConcrete) return terms.constant(run_.log().sourceOf(copy.event, copy.lane), 64);
    const auto offset = static_cast<std::uint64_t>(of.offset);
    return terms.add(terms.resize(terms.ofLane(of.source, copy.lane), 64), terms.constant(offset, 64));
  };
  const std::uint64_t key = run_.log().contentKeyOf(first.event, first.lane);
  if (key != kZeros) {
    const std::uint64_t distance = run_.log().sourceOf(first.event, first.lane) - run_.log().sourceOf(second.event, second.lane);
    decide(terms.subtract(sourceOf(a, first), sourceOf(b, second)), terms.constant(distance, 64));
  }
  // Equal keys have equal sizes, in their highest byte.
  const std::uint64_t size = key >> 56;
  const auto decideSize = [&](symbolic::TermId term, unsigned lane) {
    if (term != symbolic::kConcrete) decide(terms.resize(terms.ofLane(term, lane), 32), terms.constant(size, 32));
  };
  decideSize(a.size, first.lane);
  decideSize(b.size, second.lane);
  const auto decideIgnored = [&](const CopyTerms& of, unsigned lane) {
    if (of.ignored != symbolic::kConcrete) decide(terms.ofLane(of.ignored, lane), terms.constant((of.ignored_lanes >> lane) & 1, 1));
  };
  decideIgnored(a, first.lane);
  decideIgnored(b, second.lane);
}

// Copies of a turn with terms: where turns were skipped, they stand for those of the last one, which bring something else.
void RaceChecker::forgetTurn(symbolic::Terms& terms, symbolic::TermId passed, bool has_skipped) {
  for (auto& [copy, of] : copy_terms_) {
    bool moves = false;
    for (symbolic::TermId* const term : {&of.source, &of.size, &of.ignored}) {
      const symbolic::TermId now = atFirstTurn(terms, *term, passed);
      moves |= std::exchange(*term, now) != now;
    }
    if (moves && has_skipped) run_.log().forgetContent(copy);
  }
}

// Whoever is ordered behind the write is ordered behind the earlier one as well.
bool RaceChecker::isBehind(Access before, const Second& second) const {
  const Event& old = run_.log()[before.event];
  const Event& write = run_.log()[second.event];
  if (old.warp == write.warp && before.lane == second.lane) {
    if (!isAsync(old.kind)) return true;
    // Bulk groups of a thread are waited for in their order.
    const AsyncOp* first = run_.log().findOp(before.event, before.lane);
    const AsyncOp* then = run_.log().findOp(second.event, second.lane);
    const auto isInGroup = [](const AsyncOp* op) { return op != nullptr && op->group != AsyncOp::kNoGroup; };
    if (old.kind == EventKind::kBulk && write.kind == EventKind::kBulk && isInGroup(first) && isInGroup(then)) return true;
  }
  return order_.isKnown(before, Part::kWrite, second.cta, {run_.cluster.warps[write.warp], second.lane});
}

// An atomic need not be ordered with the atomics of others, so it stands for nothing that those have to be ordered with.
bool hidesFromAtomics(const Event& old, const Event& write) { return write.kind == EventKind::kAtomic && !old.is_strong; }

// Compares a write with an earlier one. True if nobody need be compared with that one any more.
bool RaceChecker::isSettled(Access before, const Cell& cell, const Second& second) {
  const Event& write = run_.log()[second.event];
  const Event& old = run_.log()[before.event];
  if (before.event == second.event) {
    if (before.lane == second.lane || second.address >= kTensorBase) return true;
    // Lanes of one instruction: of stores any may win, and two copies to one place have been told of.
    if (write.kind != EventKind::kBulk && write.kind != EventKind::kAsyncStore) return false;
  }
  if (!isOverwriteChecked(old, write, second.address)) {
    // An atomic reads as well, and a plain store is no part of its order.
    const bool may_be_lost = old.kind == EventKind::kAtomic && !write.is_strong;
    const Verdict verdict = may_be_lost ? judge(before, Part::kRead, second) : Verdict::kFine;
    if (verdict == Verdict::kFine) return isBehind(before, second) && !hidesFromAtomics(old, write);
    report(before, second, cell, /*reader_is_first=*/true, verdict == Verdict::kUnfenced);
    return true;
  }
  const Verdict verdict = judge(before, Part::kWrite, second);
  if (verdict == Verdict::kFine) {
    if (write.kind == EventKind::kCopy && isAsync(old.kind)) limitHidden(before, second);
    return !hidesFromAtomics(old, write);
  }
  if (isSameContent(before, {second.event, second.lane})) {
    run_.outcome.has_repeated_copies = true;
    decideSameContent(before, {second.event, second.lane});
    return false;
  }
  report(before, second, cell, /*reader_is_first=*/false, verdict == Verdict::kUnfenced);
  return true;
}

// A cp.async that comes after an asynchronous write in time only hides that one from readers, who need causality order;
// where some sizes leave it out, it must not (docs/soundness.md, "Accesses that may be left out").
void RaceChecker::limitHidden(Access before, const Second& second) {
  const PathLog* const path = run_.options.path;
  if (path == nullptr || isBehind(before, second)) return;
  const auto isAccess = [](const Decision& decision) { return decision.kind == Decision::Kind::kAccess; };
  if (std::none_of(path->decisions.begin(), path->decisions.end(), isAccess)) return;
  const Op& op = run_.program.ops[run_.log()[second.event].op];
  run_.addLimit("'" + op.decoded->opcode + "' overwrites what an asynchronous write brought, and is ordered after it in time "
                "only: whether that may be read where some sizes leave it out was not decided", op.instr);
}

// What the new write leaves of the earlier ones that the last one was not ordered behind.
void RaceChecker::settleUnordered(Cell& cell, const Second& second) {
  const Warp& writer = run_.cluster.warps[run_.log()[second.event].warp];
  const Clock& clock = writer.clock.of(second.lane);
  const bool is_plain = !isAsyncProxy(run_.log()[second.event].kind);
  cell.unordered = read_sets_.filter(cell.unordered, [&](const ReadSets::Node& node) {
    const Event& old = run_.log()[node.event];
    const bool is_over = is_plain && !isAsync(old.kind) && clock.coversWarp(old.warp * kWarpSize, node.lanes, old.epoch);
    if (is_over) return hidesFromAtomics(old, run_.log()[second.event]) ? node.lanes : LaneMask{0};
    LaneMask kept = 0;
    forEachLane(node.lanes, [&](unsigned lane) { kept |= isSettled({node.event, lane}, cell, second) ? 0 : laneBit(lane); });
    return kept;
  });
}

// Reads that the last write is ordered behind, while nothing orders that one with the new one.
void RaceChecker::checkHiddenReaders(const Cell& cell, const Second& second) {
  if (cell.previous_reads == 0 || eventOf(cell.write) == second.event) return;
  Cell before = cell;
  before.write = cell.previous_write;
  before.reads = cell.previous_reads;
  checkAgainstReaders(before, second);
}

void RaceChecker::writeCell(Cell& cell, const Second& second) {
  const Asked asked{second.event, laneBit(second.lane), cell.write, second.cta};
  if (cell.unordered != 0) settleUnordered(cell, second);
  if (cell.write != 0 && asked_write_ != asked) {
    const Access before{eventOf(cell.write), laneOf(cell.write)};
    const std::size_t reported = run_.outcome.conflicts.size();
    if (!isSettled(before, cell, second)) {
      cell.unordered = read_sets_.add(cell.unordered, before.event, laneBit(before.lane));
      checkHiddenReaders(cell, second);
    } else if (reported == run_.outcome.conflicts.size()) {
      asked_write_ = asked;
    }
  }
  if (cell.reads != 0) {
    const AskedReaders readers{second.event, second.lane, cell.reads, second.cta};
    const std::size_t reported = run_.outcome.conflicts.size();
    if (candidates_ != nullptr || asked_readers_ != readers) checkAgainstReaders(cell, second);
    if (candidates_ == nullptr && reported == run_.outcome.conflicts.size()) asked_readers_ = readers;
  }
  read_sets_.release(cell.previous_reads);
  cell.previous_write = cell.write;
  cell.previous_reads = cell.reads;
  cell.write = makeWrite(second.event, second.lane);
  cell.reads = 0;
  if (cell.previous_reads != 0 && run_.log()[second.event].is_strong) keepStrongReaders(cell, second);
}

// Of two strong accesses neither need be over when the other is: the read goes on to count for what comes.
void RaceChecker::keepStrongReaders(Cell& cell, const Second& second) {
  const Event& write = run_.log()[second.event];
  const Clock& clock = run_.cluster.warps[write.warp].clock.of(second.lane);
  read_sets_.forEach(cell.previous_reads, [&](const ReadSets::Node& node) {
    const Event& read = run_.log()[node.event];
    // Of an atomic the write is kept, which is no earlier.
    if (!read.is_strong || read.kind != EventKind::kRead) return true;
    if (clock.coversWarp(read.warp * kWarpSize, node.lanes, read.epoch)) return true;
    kept_readers_.push_back(node);
    return true;
  });
  for (const ReadSets::Node& node : kept_readers_) cell.reads = read_sets_.add(cell.reads, node.event, node.lanes);
  kept_readers_.clear();
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

// Warps that have not started yet belong to it as much as those that have: it cannot be over for the writer.
void RaceChecker::checkUnwrittenSince(const Range& range, EventId start) {
  if (run_.log().end() == start + 1) return;
  forEachShared(range, [&](const Cell& cell, std::uint64_t at) {
    const EventId write = eventOf(cell.write);
    if (write <= start) return;
    Cell before = cell;
    before.write = cell.previous_write;
    before.reads = cell.previous_reads;
    const Second second{.event = write, .lane = laneOf(cell.write), .address = at, .cta = range.cta->rank};
    report({start, 0}, second, before, /*reader_is_first=*/true, /*is_unfenced=*/false);
  });
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

// Where all addresses in a buffer lie at fixed distances from one of them, all inputs that decide alike have the accesses
// of the run meet, or none.
void RaceChecker::noteDistance(symbolic::TermId address, const Lanes& words, LaneMask lanes) {
  PathLog* const path = run_.options.path;
  if (path == nullptr || run_.outcome.has_moving_distances) return;
  symbolic::Terms& terms = path->terms();
  LaneMask rest = lanes & ~words.unknown;
  while (rest != 0) {
    const std::uint64_t buffer = words.word[lowestLane(rest)] >> kBufferShift;
    LaneMask same = 0;
    forEachLane(rest, [&](unsigned lane) { same |= words.word[lane] >> kBufferShift == buffer ? laneBit(lane) : 0; });
    rest &= ~same;
    if (!tracked_.contains(buffer)) continue;
    const symbolic::TermId own = address == symbolic::kConcrete ? terms.constant(words.word[lowestLane(same)], 64) : terms.ofLanes(address, same);
    const auto [base, is_first] = bases_.try_emplace(buffer, terms.ofLane(own, lowestLane(same)));
    const bool is_address = terms[own].width == 64 && terms[base->second].width == 64;
    run_.outcome.has_moving_distances |= !is_address || terms[terms.subtract(own, base->second)].has_symbols;
  }
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
    run_.outcome.wanted_words.insert(unknown_global_.begin(), unknown_global_.end());
  }
}

}  // namespace handoff::machine
