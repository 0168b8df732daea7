// SPDX-License-Identifier: Apache-2.0
// The state of an mbarrier object (PTX ISA, "mbarrier": Contents, Phases, Tracking asynchronous operations).
#pragma once

#include <cstdint>
#include <vector>

#include "analyzer/machine/clock.h"
#include "analyzer/machine/event.h"

namespace handoff::machine {

/// Phases are counted up for ever, across re-initialisations, so that a phase number never names two phases.
using Phase = std::uint32_t;

class MbarrierObject {
 public:
  explicit MbarrierObject(ActorId actor) : actor_(actor) {}

  /// Component of clocks that know the data which phases released to be visible.
  ActorId actor() const { return actor_; }
  /// Component of clocks that know phases to be over. Also an arrival that releases nothing (relaxed, or made by a
  /// copy's completion) carries it: it comes after what its thread had waited for.
  ActorId timeActor() const { return actor_ + 1; }
  bool isLive() const { return is_live_; }
  Phase phase() const { return phase_; }
  std::uint32_t expected() const { return expected_; }
  std::uint32_t pending() const { return pending_; }
  std::int64_t transactions() const { return transactions_; }
  EventId initEvent() const { return init_; }
  /// The first phase of the object's present life.
  Phase firstPhase() const { return first_phase_; }
  /// Arrivals, expects and completions of the current phase, oldest first.
  const std::vector<EventId>& eventsOfPhase() const { return events_; }
  /// What a wait for the last completed phase learns.
  const Clock& completedClock() const { return completed_; }
  /// The clock that arrivals of the current phase publish into.
  Clock& openClock() { return open_; }

  void init(std::uint32_t count, EventId event);
  void invalidate() { is_live_ = false; }
  void expect(std::int64_t bytes, EventId event);
  void complete(std::int64_t bytes, EventId event);
  /// Arrive-on with a count; true when the phase completed. `keeps_pending` is .noComplete.
  bool arrive(std::uint32_t count, EventId event);
  void dropExpected(std::uint32_t count) { expected_ -= count > expected_ ? expected_ : count; }
  /// cp.async.mbarrier.arrive without .noinc raises the pending count first.
  void raisePending() { ++pending_; }
  /// No arrival and no byte of the open phase is outstanding.
  bool isIdle() const { return pending_ == expected_ && transactions_ == 0; }
  /// True when an arrival with this count would go below zero.
  bool wouldUnderflow(std::uint32_t count) const { return count > pending_; }

  /// Parity of the phase within the object's present life: 0 for the first phase after init.
  unsigned parity() const { return (phase_ - first_phase_) & 1; }
  /// mbarrier.test_wait.parity: the phase with this parity is complete.
  bool isParityComplete(unsigned parity_operand) const { return ((parity() ^ parity_operand) & 1) != 0; }

 private:
  bool advanceIfDone();

  ActorId actor_;
  bool is_live_ = false;
  Phase phase_ = 0, first_phase_ = 0;
  std::uint32_t expected_ = 0, pending_ = 0;
  std::int64_t transactions_ = 0;
  EventId init_ = 0;
  std::vector<EventId> events_;
  Clock open_, completed_;
};

}  // namespace handoff::machine
