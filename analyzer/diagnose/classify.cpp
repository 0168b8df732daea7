// SPDX-License-Identifier: Apache-2.0
// The decision table behind classify.h.
//
// Two questions decide most cases. Did the use come after the copy's *issue* in the order of the program (then it
// means this copy, and the copy's completion is what is missing), or is it concurrent with the issue? If concurrent:
// was there an older tile in the slot that the reader had a right to and had not read yet (then the refill came too
// early), or did it want this copy's data (then nothing hands them over)?
#include "analyzer/diagnose/classify.h"

#include "analyzer/machine/address.h"

namespace handoff::diagnose {

using machine::Conflict;
using machine::Event;
using machine::EventId;
using machine::EventKind;
using machine::Outcome;

std::string_view ruleOf(Cause cause) {
  switch (cause) {
    case Cause::kMissingWait: return "missing-wait";
    case Cause::kMissingCommit: return "missing-commit";
    case Cause::kBarrierOnly: return "barrier-only-handoff";
    case Cause::kMissingBarrier: return "missing-barrier";
    case Cause::kPhaseRace: return "phase-race";
    case Cause::kInsufficientWait: return "insufficient-wait";
    case Cause::kPrematureOverwrite: return "premature-overwrite";
    case Cause::kOverlap: return "overlapping-copies";
    case Cause::kReuseInFlight: return "leaked-copy";
    case Cause::kSourceOverwritten: return "source-overwritten";
    case Cause::kWrongParity: return "wrong-parity";
    case Cause::kMissingProxyFence: return "missing-proxy-fence";
    case Cause::kNotDrained: return "store-not-drained";
  }
  return "missing-wait";
}

std::uint32_t sufficientPending(const Conflict& conflict) {
  if (!conflict.wait || conflict.wait->committed <= conflict.group) return 0;
  return conflict.wait->committed - conflict.group - 1;
}

namespace {

bool isRead(EventKind kind) { return kind == EventKind::kRead || kind == EventKind::kMma; }

/// A bulk store reads shared memory, and that is its access here.
bool isStore(machine::Access access, const Outcome& outcome) {
  const machine::AsyncOp* op = outcome.log.findOp(access.event, access.lane);
  return outcome.log[access.event].kind == EventKind::kBulk && op != nullptr && op->group != machine::AsyncOp::kNoGroup;
}

// Whether the thread of `copy` waits for it later on, after the use that came too early.
bool issuerWaitsLater(EventId copy, unsigned lane, const Outcome& outcome) {
  const Event& issue = outcome.log[copy];
  for (EventId id = copy + 1; id < outcome.log.end(); ++id) {
    const Event& event = outcome.log[id];
    if (event.warp != issue.warp || !(event.lanes & machine::laneBit(lane))) continue;
    if (event.kind == EventKind::kWaitGroup || event.kind == EventKind::kWaitAll) return true;
  }
  return false;
}

// The thread's last wait for a phase before its access; of this barrier, if one is given.
EventId lastPhaseWait(machine::Access access, std::uint64_t barrier, const Outcome& outcome) {
  constexpr EventId kReach = 100'000;
  const Event& of = outcome.log[access.event];
  for (EventId id = access.event; id-- > 1 && id + kReach > access.event;) {
    const Event& event = outcome.log[id];
    const bool is_it = event.kind == EventKind::kMbarrierWait && event.warp == of.warp &&
                       (event.lanes & machine::laneBit(access.lane)) != 0;
    if (is_it && (barrier == 0 || outcome.log.barrierOf(id) == barrier)) return id;
  }
  return 0;
}

// Whether the thread of `use` has waited for a phase of a barrier that tracks this cp.async copy.
bool hasWaitedForTracked(machine::Access copy, machine::Access use, const Outcome& outcome) {
  const Event& issue = outcome.log[copy.event];
  for (EventId id = copy.event + 1; id < outcome.log.end(); ++id) {
    const Event& event = outcome.log[id];
    if (event.kind != EventKind::kCopyArrive || event.warp != issue.warp || !(event.lanes & machine::laneBit(copy.lane))) continue;
    if (lastPhaseWait(use, outcome.log.barrierOf(id), outcome) != 0) return true;
  }
  return false;
}

bool isBeforeTheFirst(EventId wait, const Outcome& outcome) {
  return static_cast<std::int32_t>(outcome.log[wait].value) < 0;
}

// The copy is in flight as far as the user of its data can tell.
Cause whyInFlight(const Conflict& conflict) {
  if (conflict.is_retired) return Cause::kMissingBarrier;
  if (conflict.wait) {
    // The wait came before the commit, or the copy was never committed: the wait could not cover it.
    if (!conflict.is_committed || conflict.wait->committed <= conflict.group) return Cause::kMissingCommit;
    // A wait that covers the older contents of the slot, which the reader has not used yet, is not too loose: the copy
    // came too early.
    const bool wants_previous = conflict.has_previous_tile && !conflict.reader_used_previous;
    return wants_previous ? Cause::kPrematureOverwrite : Cause::kInsufficientWait;
  }
  return conflict.has_cta_barrier && !conflict.same_thread ? Cause::kBarrierOnly : Cause::kMissingWait;
}

Cause readOfBulk(const Conflict& conflict, const Outcome& outcome) {
  if (staleWait(conflict, outcome) != 0) return Cause::kWrongParity;
  const bool wants_previous = conflict.reader_got_new || (conflict.has_previous_tile && !conflict.reader_saw_previous);
  if (!conflict.start_ordered && wants_previous) return Cause::kPrematureOverwrite;
  return conflict.has_cta_barrier && !conflict.same_thread ? Cause::kBarrierOnly : Cause::kMissingWait;
}

Cause readOfCopy(const Conflict& conflict, const Outcome& outcome) {
  if (outcome.log[conflict.first.event].kind != EventKind::kCopy) return readOfBulk(conflict, outcome);
  if (conflict.is_tracked && staleWait(conflict, outcome) != 0) return Cause::kWrongParity;
  const bool is_open = conflict.start_ordered && conflict.is_tracked && !conflict.is_retired && !conflict.wait;
  if (is_open && hasWaitedForTracked(conflict.first, conflict.second, outcome)) return Cause::kPhaseRace;
  if (conflict.start_ordered) return whyInFlight(conflict);
  if (conflict.reader_got_new) return Cause::kPrematureOverwrite;
  if (conflict.has_previous_tile && !conflict.reader_saw_previous) return Cause::kPrematureOverwrite;
  if (conflict.is_retired || issuerWaitsLater(conflict.first.event, conflict.first.lane, outcome)) {
    return Cause::kMissingBarrier;
  }
  return Cause::kMissingWait;
}

Cause overwriteOfRead(const Conflict& conflict, const Outcome& outcome) {
  if (staleWait(conflict, outcome) != 0) return Cause::kWrongParity;
  // What reads asynchronously had the contents that are there; they are given up too early. Where nobody had put anything
  // there, it was the write of the pair that it wanted.
  if (machine::isAsync(outcome.log[conflict.first.event].kind)) {
    return conflict.has_previous_tile ? Cause::kPrematureOverwrite : Cause::kMissingBarrier;
  }
  if (conflict.reader_got_new) return Cause::kPrematureOverwrite;
  if (conflict.has_previous_tile && !conflict.reader_saw_previous) return Cause::kPrematureOverwrite;
  const EventKind writer = outcome.log[conflict.second.event].kind;
  if (writer == EventKind::kBulk || writer == EventKind::kAsyncStore) {
    return conflict.has_previous_tile ? Cause::kPrematureOverwrite : Cause::kMissingWait;
  }
  const bool by_copy = writer == EventKind::kCopy;
  if (by_copy && !issuerWaitsLater(conflict.second.event, conflict.second.lane, outcome)) return Cause::kMissingWait;
  return Cause::kMissingBarrier;
}

// One side is global memory: the source of a load, or the destination of a store.
std::optional<Cause> onGlobal(const Conflict& conflict, const Outcome& outcome) {
  const EventKind first = outcome.log[conflict.first.event].kind, second = outcome.log[conflict.second.event].kind;
  if (isStore(conflict.first, outcome)) {
    return isStore(conflict.second, outcome) ? Cause::kOverlap
           : second == EventKind::kWrite || second == EventKind::kAtomic ? Cause::kOverlap : Cause::kNotDrained;
  }
  if (isStore(conflict.second, outcome)) return isRead(first) ? Cause::kMissingBarrier : Cause::kOverlap;
  if (machine::isCopy(first) == machine::isCopy(second)) return std::nullopt;
  // A copy that reads what another thread wrote without an order misses a barrier like any reader.
  return machine::isCopy(first) ? Cause::kSourceOverwritten : Cause::kMissingBarrier;
}

}  // namespace

bool isReaderFirst(const Conflict& conflict) { return conflict.first_reads; }

EventId staleWait(const Conflict& conflict, const Outcome& outcome) {
  const machine::AsyncOp* copy = outcome.log.findOp(conflict.first.event, conflict.first.lane);
  if (conflict.second_reads) {
    // The reader waited, and for the barrier of this copy, but an older phase let it pass.
    if (outcome.log[conflict.first.event].kind != EventKind::kCopy && (copy == nullptr || copy->barrier_address == 0)) return 0;
    const EventId wait = lastPhaseWait(conflict.second, copy == nullptr ? 0 : copy->barrier_address, outcome);
    return wait != 0 && outcome.log[wait].is_repeat ? wait : 0;
  }
  // Whoever refills waits for the readers; on the first turn of a ring it is right that nothing holds it back.
  const EventId wait = lastPhaseWait(conflict.second, 0, outcome);
  if (wait != 0 && outcome.log[wait].is_repeat && !isBeforeTheFirst(wait, outcome)) return wait;
  // Or the reader was let in too early, before the copy that it wanted was even issued.
  const machine::AsyncOp* refill = outcome.log.findOp(conflict.second.event, conflict.second.lane);
  if (refill == nullptr || refill->barrier_address == 0 || !isRead(outcome.log[conflict.first.event].kind)) return 0;
  const EventId entry = lastPhaseWait(conflict.first, refill->barrier_address, outcome);
  return entry != 0 && outcome.log[entry].is_repeat ? entry : 0;
}

std::optional<Cause> classify(const Conflict& conflict, const Outcome& outcome) {
  const EventKind first = outcome.log[conflict.first.event].kind;
  const EventKind second = outcome.log[conflict.second.event].kind;
  if (conflict.is_unfenced) return Cause::kMissingProxyFence;
  if (conflict.is_source) return onGlobal(conflict, outcome);
  if (conflict.space == ptx::Space::kShared && conflict.address >= machine::kTensorBase) {
    return Cause::kMissingWait;  // of tensor memory, every operation has a wait of its own
  }
  const bool is_first_copy = machine::isCopy(first) && !conflict.first_reads;
  const bool is_second_copy = machine::isCopy(second) && !conflict.second_reads;
  if (conflict.second_reads) {
    if (is_first_copy) return readOfCopy(conflict, outcome);
    if (conflict.has_previous_tile && !conflict.reader_saw_previous) return Cause::kPrematureOverwrite;
    return Cause::kMissingBarrier;
  }
  if (conflict.first_reads) return overwriteOfRead(conflict, outcome);
  if (is_first_copy && is_second_copy) return Cause::kOverlap;
  if (is_first_copy) {
    // Nobody ever waits for the copy: its memory was given up, with the copy still on its way.
    const bool is_abandoned = first == EventKind::kCopy && conflict.start_ordered && !conflict.is_retired && !conflict.wait &&
                              !issuerWaitsLater(conflict.first.event, conflict.first.lane, outcome);
    return is_abandoned ? Cause::kReuseInFlight : Cause::kOverlap;
  }
  if (is_second_copy) return Cause::kOverlap;
  return std::nullopt;
}

}  // namespace handoff::diagnose
