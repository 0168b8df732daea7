// SPDX-License-Identifier: Apache-2.0
// The state of an mbarrier object (PTX ISA, "mbarrier": Contents, Phases, Tracking asynchronous operations).
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "analyzer/machine/clock.h"
#include "analyzer/machine/event.h"

namespace handoff::machine {

/// Phases are counted up for ever, across re-initialisations, so that a phase number never names two phases.
using Phase = std::uint32_t;

class MbarrierObject {
 public:
  /// Components of clocks that an object takes.
  static constexpr ActorId kActors = 2;

  explicit MbarrierObject(ActorId actor) : actor_(actor) {}

  /// Component of clocks that counts completed phases. In causality order it says that what the phase released is
  /// visible; in time, only that the phase is over.
  ActorId actor() const { return actor_; }
  /// Component of clocks that know the object to be initialised; its time is `lives()`.
  ActorId initActor() const { return actor_ + 1; }
  Epoch lives() const { return lives_; }
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

  /// What arrivals of the current phase release: by threads of the object's own CTA (or to any waiter), and by threads
  /// of other CTAs, which only a wait of cluster scope acquires.
  Clock& openClock() { return open_.own; }
  Clock& openRemoteClock() { return open_.remote; }
  const Clock& openClock() const { return open_.own; }
  const Clock& openRemoteClock() const { return open_.remote; }
  /// What a wait for the last completed phase learns.
  const Clock& completedClock() const { return completed_.own; }
  const Clock& completedRemoteClock() const { return completed_.remote; }

  void init(std::uint32_t count, EventId event);
  void invalidate() { is_live_ = false; }
  void expect(std::int64_t bytes, EventId event);
  /// True when the phase completed.
  bool complete(std::int64_t bytes, EventId event);
  /// Arrive-on with a count; true when the phase completed.
  bool arrive(std::uint32_t count, EventId event);
  void dropExpected(std::uint32_t count) { expected_ -= count > expected_ ? expected_ : count; }
  /// cp.async.mbarrier.arrive without .noinc raises the pending count first.
  void raisePending() { ++pending_; }
  /// No arrival and no byte of the open phase is outstanding.
  bool isIdle() const { return pending_ == expected_ && transactions_ == 0; }
  /// Who arrived in the last completed phase. Whoever knows all of them to have arrived knows it to be over; empty for
  /// a phase that waited for bytes or asynchronous arrivals as well.
  struct Arriver { std::uint16_t warp = 0; Epoch epoch = 0; LaneMask lanes = kAllLanes; };
  void noteArriver(std::uint16_t warp, Epoch epoch, LaneMask lanes = kAllLanes) { open_arrivers_.push_back({warp, epoch, lanes}); }
  /// The open phase has an arrival that comes after its instruction: who has executed that does not know it to be made.
  void noteAsyncArrival() { is_async_ = true; }
  const std::vector<Arriver>& openArrivers() const { return open_arrivers_; }
  const std::vector<Arriver>& completedArrivers() const { return completed_arrivers_; }
  const std::vector<Arriver>& earlierArrivers() const { return earlier_arrivers_; }
  /// The last operation of each warp on the object in its present life.
  const std::vector<Arriver>& users() const { return users_; }
  void noteUser(const Arriver& user);
  /// True when an arrival with this count would go below zero.
  bool wouldUnderflow(std::uint32_t count) const { return count > pending_; }

  /// Parity of the phase within the object's present life: 0 for the first phase after init.
  unsigned parity() const { return (phase_ - first_phase_) & 1; }
  /// mbarrier.test_wait.parity: the phase with this parity is complete.
  bool isParityComplete(unsigned parity_operand) const { return ((parity() ^ parity_operand) & 1) != 0; }

  /// Bytes announced and delivered, by the phase that the announcing and the issuing threads mean: the one after the
  /// last that they know to be over. No schedule changes this.
  struct PhaseBytes {
    std::int64_t expected = 0, delivered = 0;
    EventId expect = 0, copy = 0;        ///< first of each
    EventId last_copy = 0;
    std::uint32_t copies = 0;
  };
  PhaseBytes& bytesOf(Phase meant) { return bytes_[meant]; }
  const std::map<Phase, PhaseBytes>& bytes() const { return bytes_; }

  /// A warp that has waited for a phase by parity.
  struct Waiter {
    std::uint16_t warp = 0;
    Phase phase = 0;      ///< that it waited for
    Epoch epoch = 0;      ///< of the warp after the wait
    EventId event = 0;
    LaneMask lanes = kAllLanes;  ///< that waited together
  };
  void noteWaiter(const Waiter& waiter);
  const std::vector<Waiter>& waiters() const { return waiters_; }
  /// Waiters for the phase before the last completed one that the completion did not know to have gone on: on another
  /// schedule they would still be waiting, and see the parity of a phase they did not mean. Cleared by the call.
  std::vector<Waiter> takeLapped();

  /// An expect_tx must come before the phase's last arrival. Events of expects of completed phases for which no arrival
  /// was ordered after them; cleared by the call.
  struct PendingExpect { std::uint16_t warp = 0; unsigned lane = 0; Epoch epoch = 0; EventId event = 0; };
  void notePendingExpect(const PendingExpect& expect) { pending_expects_.push_back(expect); }
  const std::vector<PendingExpect>& pendingExpects() const { return pending_expects_; }
  /// An arrival by a thread that knows these expects.
  template <typename Knows> void settleExpects(Knows&& knows) {
    std::erase_if(pending_expects_, [&](const PendingExpect& expect) { return knows(expect); });
  }
  std::vector<EventId> takeLateExpects();

 private:
  bool advanceIfDone();

  ActorId actor_;
  bool is_live_ = false;
  Epoch lives_ = 0;
  Phase phase_ = 0, first_phase_ = 0;
  std::uint32_t expected_ = 0, pending_ = 0;
  std::int64_t transactions_ = 0;
  EventId init_ = 0;
  std::vector<EventId> events_;
  struct Released { Clock own, remote; } open_, completed_;
  std::map<Phase, PhaseBytes> bytes_;
  std::vector<Arriver> open_arrivers_, completed_arrivers_, earlier_arrivers_, users_;
  bool is_async_ = false;   ///< the open phase waits for bytes or asynchronous arrivals
  std::vector<Waiter> waiters_, lapped_;
  std::vector<PendingExpect> pending_expects_;
  std::vector<EventId> late_expects_;
};

}  // namespace handoff::machine
