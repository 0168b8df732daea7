// SPDX-License-Identifier: Apache-2.0
// The decision table behind classify.h.
//
// Two questions decide most cases. Did the use come after the copy's *issue* in the order of the program (then it
// means this copy, and the copy's completion is what is missing), or is it concurrent with the issue? If concurrent:
// was there an older tile in the slot that the reader had a right to and had not read yet (then the refill came too
// early), or did it want this copy's data (then nothing hands them over)?
#include "analyzer/diagnose/classify.h"

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
  }
  return "missing-wait";
}

std::uint32_t sufficientPending(const Conflict& conflict) {
  if (!conflict.wait || conflict.wait->committed <= conflict.group) return 0;
  return conflict.wait->committed - conflict.group - 1;
}

namespace {

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
  if (conflict.is_tracked) return Cause::kPhaseRace;
  return conflict.has_cta_barrier && !conflict.same_thread ? Cause::kBarrierOnly : Cause::kMissingWait;
}

Cause readOfCopy(const Conflict& conflict, const Outcome& outcome) {
  if (conflict.start_ordered) return whyInFlight(conflict);
  if (conflict.reader_got_new) return Cause::kPrematureOverwrite;
  if (conflict.has_previous_tile && !conflict.reader_saw_previous) return Cause::kPrematureOverwrite;
  if (conflict.is_retired || issuerWaitsLater(conflict.first.event, conflict.first.lane, outcome)) {
    return Cause::kMissingBarrier;
  }
  return Cause::kMissingWait;
}

Cause overwriteOfRead(const Conflict& conflict, const Outcome& outcome) {
  if (conflict.reader_got_new) return Cause::kPrematureOverwrite;
  if (conflict.has_previous_tile && !conflict.reader_saw_previous) return Cause::kPrematureOverwrite;
  const bool by_copy = outcome.log[conflict.second.event].kind == EventKind::kCopy;
  if (by_copy && !issuerWaitsLater(conflict.second.event, conflict.second.lane, outcome)) return Cause::kMissingWait;
  return Cause::kMissingBarrier;
}

Cause onSource(EventKind first) {
  // A copy that reads what another thread wrote without an order misses a barrier like any reader.
  return first == EventKind::kCopy ? Cause::kSourceOverwritten : Cause::kMissingBarrier;
}

}  // namespace

std::optional<Cause> classify(const Conflict& conflict, const Outcome& outcome) {
  const EventKind first = outcome.log[conflict.first.event].kind;
  const EventKind second = outcome.log[conflict.second.event].kind;
  const bool is_first_copy = first == EventKind::kCopy, is_second_copy = second == EventKind::kCopy;
  if (conflict.is_source) {
    if (is_first_copy == is_second_copy) return std::nullopt;
    return onSource(first);
  }
  if (second == EventKind::kRead) {
    if (is_first_copy) return readOfCopy(conflict, outcome);
    if (conflict.has_previous_tile && !conflict.reader_saw_previous) return Cause::kPrematureOverwrite;
    return Cause::kMissingBarrier;
  }
  if (first == EventKind::kRead) return overwriteOfRead(conflict, outcome);
  if (is_first_copy && is_second_copy) return Cause::kOverlap;
  if (is_first_copy) {
    // Nobody ever waits for the copy: its memory was given up, with the copy still on its way.
    const bool is_abandoned = conflict.start_ordered && !conflict.is_retired && !conflict.wait &&
                              !issuerWaitsLater(conflict.first.event, conflict.first.lane, outcome);
    return is_abandoned ? Cause::kReuseInFlight : Cause::kOverlap;
  }
  if (is_second_copy) return Cause::kOverlap;
  return std::nullopt;
}

}  // namespace handoff::diagnose
