// SPDX-License-Identifier: Apache-2.0
// Puts a picture together from threads and chosen events: lanes, steps, operations in flight, phases of
// mbarriers, slots.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "analyzer/diagnose/diagnose.h"
#include "analyzer/diagnose/picture.h"
#include "analyzer/machine/run_trace.h"
#include "analyzer/picture/covers.h"
#include "analyzer/picture/slot_spans.h"

namespace handoff::picture {

class Scene {
 public:
  Scene(const diagnose::Run& run, const machine::RunTrace& trace);

  // --- who, and what ---
  /// Threads have lanes in the order in which they are added; the last of several is at the bottom. One that
  /// is there already is not added again.
  void addThread(Thread thread, const std::string& role);
  bool hasThread(Thread thread) const;
  /// An event that has to be seen, one of those that the finding is about.
  void addCulprit(machine::EventId event, Thread thread);
  void addMust(machine::EventId event);
  /// One that is seen if there is room; of several with the same key, the first.
  void addOptional(machine::EventId event);
  /// What the threads do to order things between the two events, and what they issue.
  void addSteps(machine::EventId after, machine::EventId before);
  /// Up to `count` of the thread's last such steps before the event.
  void addStepsBefore(machine::EventId before, Thread thread, unsigned count);
  /// Shared memory that the finding is about.
  void setPlace(SlotQuestion::Place place);
  /// What the copy brings is there from this wait on, for whoever the finding is about; 0: never.
  void setCompletion(machine::EventId copy, machine::EventId wait);
  /// The thread's last column: it waits for ever, or leaves.
  void addEnd(Thread thread, std::string label, std::string text, SourceStack stack, bool is_culprit);
  void addBarrier(std::uint64_t address);

  // --- after all that ---
  void layOut();
  std::optional<std::uint32_t> laneOf(Thread thread) const;
  std::optional<std::uint32_t> laneOfBarrier(std::uint64_t address) const;
  std::optional<std::uint32_t> laneOfFlight(machine::EventId event) const;
  diagnose::Picture::Time columnOf(machine::EventId event) const { return columns_.of(event); }
  machine::EventId cover(machine::EventId issue, unsigned lane) const;
  /// The column that addEnd made.
  diagnose::Picture::Time endColumn() const { return end_column_; }
  void addMissing(diagnose::Picture::Point from, diagnose::Picture::Point to, std::string text);
  /// From `at` on, what is in the slot of the place is not what its user needs.
  void spoil(machine::EventId at, const std::string& text);
  std::size_t steps() const { return picture_.marks.size(); }
  diagnose::Picture take() { return std::move(picture_); }

 private:
  struct Actor {
    Thread thread;
    std::string role;
  };
  struct End {
    Thread thread;
    std::string label, text;
    SourceStack stack;
    bool is_culprit;
  };
  using Key = std::tuple<machine::EventKind, std::uint32_t, std::uint64_t>;

  bool isOfAny(machine::EventId event) const;
  bool isCulprit(machine::EventId event) const;
  std::optional<Key> keyOf(machine::EventId event) const;
  std::size_t fillAt(machine::EventId event) const;
  void thin();
  void addGaps();
  void addLanes();
  void addMarks();
  void addFlights();
  void addPhases(std::uint32_t lane, machine::ActorId barrier);
  void addBarrierEdges();
  void addRounds(const std::vector<std::pair<machine::EventId, std::size_t>>& of);
  void addSlots();
  std::optional<machine::ActorId> barrierOf(machine::EventId event) const;
  std::string threadText(Thread thread) const;
  std::string roleText(const Actor& actor) const;

  const diagnose::Run& run_;
  const machine::EventLog& log_;
  const machine::RunTrace& trace_;
  diagnose::Picture picture_;
  std::vector<Actor> actors_;
  std::vector<Thread> threads_;  ///< of the actors
  std::vector<std::pair<machine::EventId, Thread>> culprits_;
  std::set<machine::EventId> musts_, optionals_;
  std::set<Key> keys_;
  std::vector<End> ends_;
  std::set<std::uint64_t> wanted_barriers_;  ///< addresses
  Columns columns_;
  std::vector<std::uint32_t> lanes_;                      ///< by actor
  std::map<std::uint64_t, std::uint32_t> barrier_lanes_;  ///< by address
  std::map<machine::ActorId, std::uint64_t> addresses_;   ///< of mbarriers
  std::uint32_t copy_lane_ = 0, tensor_lane_ = 0;
  diagnose::Picture::Time end_column_ = 0;
  std::vector<SlotHistory> slots_;
  std::optional<std::size_t> place_slot_;
  std::set<machine::EventId> touching_;  ///< the slot of the place
};

}  // namespace handoff::picture
