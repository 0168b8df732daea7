// SPDX-License-Identifier: Apache-2.0
// Depth-first search over all states of a protocol.
#include "analyzer/test_support/phase_oracle.h"

#include <algorithm>
#include <bit>
#include <compare>
#include <set>

namespace handoff::test {

namespace {

using Kind = PhaseEvent::Kind;

/// Events as bits: eight a thread.
using EventSet = std::uint32_t;
constexpr EventSet bitOf(unsigned thread, unsigned position) {
  return EventSet{1} << (kMaxPhaseEvents * thread + position);
}

/// Accesses that somebody has been told to be over: so that their data may be used, or just that they are.
struct Told {
  EventSet usable = 0, over = 0;

  void add(const Told& other) { usable |= other.usable, over |= other.over; }
  auto operator<=>(const Told&) const = default;
};

struct Barrier {
  unsigned phase = 0, pending = 0;
  int bytes = 0;          ///< tx-count
  bool was_seen = false;  ///< a wait has returned true for the phase before
  /// What arrivals of the open phase and of the last complete one tell. The second of each is from another
  /// CTA.
  std::array<Told, 2> open, complete;

  auto operator<=>(const Barrier&) const = default;
};

/// Everything that differs between two moments.
struct State {
  std::array<unsigned, kMaxPhaseThreads> at{};
  std::array<bool, kMaxPhaseThreads> is_meeting{};  ///< stands at a block or cluster barrier
  std::array<Barrier, kPhaseBarriers> barriers;
  EventSet is_complete = 0;  ///< copies
  EventSet is_bare = 0;      ///< ordinary accesses that no proxy fence has followed
  EventSet is_current = 0;   ///< accesses of a slot since its last write, and that write
  std::array<Told, kMaxPhaseThreads> told;

  auto operator<=>(const State&) const = default;
};

class PhaseSearch {
 public:
  explicit PhaseSearch(const PhaseProtocol& protocol)
      : protocol_(protocol), count_(static_cast<unsigned>(protocol.threads.size())) {}

  PhaseAnswer run() {
    State start;
    for (unsigned b = 0; b < kPhaseBarriers; ++b) start.barriers[b].pending = protocol_.counts[b];
    visit(start);
    for (unsigned thread = 0; thread < count_; ++thread) {
      for (unsigned i = 0; i < events(thread).size(); ++i) {
        const bool is_wait = eventAt(thread, i).kind == Kind::kWait;
        (is_wait ? answer_.is_overtaken : answer_.is_ambiguous) |= std::popcount(phases_[thread][i]) > 1;
      }
    }
    return answer_;
  }

 private:
  const std::vector<PhaseEvent>& events(unsigned thread) const { return protocol_.threads[thread]; }
  const PhaseEvent& eventAt(unsigned thread, unsigned position) const { return events(thread)[position]; }
  bool isDone(const State& state, unsigned thread) const { return state.at[thread] == events(thread).size(); }
  static bool isInFlight(const State& state, unsigned thread, unsigned position) {
    return (state.is_complete & bitOf(thread, position)) == 0;
  }

  // --- the walk ---

  void visit(const State& state) {
    if (!visited_.insert(state).second) return;
    ++answer_.states;
    bool can_go_on = false, is_under_way = false, is_end = true;
    for (unsigned thread = 0; thread < count_; ++thread) {
      for (unsigned i = 0; i < state.at[thread]; ++i) {
        if (!isBulk(eventAt(thread, i).kind) || !isInFlight(state, thread, i)) continue;
        is_under_way = true;
        visit(completed(state, thread, i));
      }
    }
    for (unsigned thread = 0; thread < count_; ++thread) {
      is_end &= isDone(state, thread);
      if (!isDone(state, thread)) can_go_on |= step(state, thread);
    }
    if (is_end) {
      answer_.has_leak |= is_under_way;
      for (const Barrier& barrier : state.barriers)
        answer_.has_leftover |= !is_under_way && barrier.bytes != 0;
    } else if (!can_go_on && !is_under_way) {
      noteDeadlock(state);
    }
  }

  void noteDeadlock(const State& state) {
    answer_.has_deadlock = true;
    for (unsigned thread = 0; thread < count_; ++thread) {
      const bool waits = !isDone(state, thread) && eventAt(thread, state.at[thread]).kind == Kind::kWait;
      if (waits) phases_[thread][state.at[thread]] |= kNever;
    }
  }

  State completed(State state, unsigned thread, unsigned position) {
    const PhaseEvent& copy = eventAt(thread, position);
    state.is_complete |= bitOf(thread, position);
    if (copy.kind != Kind::kCopy) return state;
    Barrier& barrier = state.barriers[copy.barrier];
    notePhase(thread, position, barrier);
    barrier.open[0].usable |= bitOf(thread, position);
    barrier.bytes -= static_cast<int>(kPhaseSlotBytes);
    advanceIfDone(barrier, copy.barrier);
    return state;
  }

  /// False when the thread has to wait.
  bool step(const State& state, unsigned thread) {
    const unsigned position = state.at[thread];
    const PhaseEvent& event = eventAt(thread, position);
    State after = state;
    ++after.at[thread];
    switch (event.kind) {
      case Kind::kArrive:
      case Kind::kArriveExpect:
      case Kind::kExpect:
        count(after, thread, position);
        break;
      case Kind::kWait:
        if (!wait(after, thread, position)) return false;
        break;
      case Kind::kWaitGroup:
      case Kind::kWaitRead:
        if (!waitForGroups(state, thread)) return false;
        break;
      case Kind::kCommit:
        break;
      case Kind::kFence:
        fence(after, thread);
        break;
      case Kind::kSync:
        return meet(state, thread);
      case Kind::kCopy:
      case Kind::kBulkStore:
      case Kind::kLoad:
      case Kind::kStore:
        access(after, thread, position);
        break;
    }
    if (isDone(after, thread)) releaseMeeting(after);
    visit(after);
    return true;
  }

  // --- mbarriers ---

  void advanceIfDone(Barrier& barrier, unsigned index) const {
    if (barrier.pending != 0 || barrier.bytes != 0) return;
    barrier = {.phase = barrier.phase + 1,
               .pending = protocol_.counts[index],
               .bytes = 0,
               .was_seen = false,
               .open = {},
               .complete = barrier.open};
  }

  void notePhase(unsigned thread, unsigned position, const Barrier& barrier) {
    phases_[thread][position] |= 1u << barrier.phase;
  }

  void noteUse(unsigned thread, unsigned position, const Barrier& barrier) {
    notePhase(thread, position, barrier);
    answer_.is_unconsumed |= barrier.phase != 0 && !barrier.was_seen;
  }

  bool isRemote(unsigned thread, const PhaseEvent& event) const {
    return protocol_.ctaOf(thread) != protocol_.homeOf(event.barrier);
  }

  void count(State& state, unsigned thread, unsigned position) {
    const PhaseEvent& event = eventAt(thread, position);
    Barrier& barrier = state.barriers[event.barrier];
    noteUse(thread, position, barrier);
    const bool is_arrival = event.kind != Kind::kExpect;
    if (barrier.pending == 0) (is_arrival ? answer_.has_overrun : answer_.has_late_expect) = true;
    if (event.kind != Kind::kArrive) barrier.bytes += static_cast<int>(event.argument);
    if (!is_arrival) return;  // relaxed; nor does it complete a phase
    const Told released = releasedBy(state, thread);
    if (!isRemote(thread, event)) {
      barrier.open[0].add(released);
    } else if (event.is_wide) {
      barrier.open[1].add(released);
    } else {
      barrier.open[0].over |= released.usable | released.over;
    }
    if (barrier.pending != 0) --barrier.pending;
    advanceIfDone(barrier, event.barrier);
  }

  bool wait(State& state, unsigned thread, unsigned position) {
    const PhaseEvent& event = eventAt(thread, position);
    Barrier& barrier = state.barriers[event.barrier];
    if (((barrier.phase ^ event.argument) & 1) == 0) return false;
    notePhase(thread, position, barrier);
    barrier.was_seen = true;
    Told& told = state.told[thread];
    told.add(barrier.complete[0]);
    told.over |= barrier.complete[1].usable | barrier.complete[1].over;
    if (event.is_wide) told.add(barrier.complete[1]);
    settleLoads(state, thread);
    return true;
  }

  // --- bulk groups, barriers of the block and of the cluster ---

  bool waitForGroups(const State& state, unsigned thread) const {
    const unsigned position = state.at[thread];
    const auto commitsBefore = [&](unsigned end) {
      return std::count_if(events(thread).begin(), events(thread).begin() + end,
                           [](const PhaseEvent& event) { return event.kind == Kind::kCommit; });
    };
    const std::ptrdiff_t committed = commitsBefore(position), allowed = eventAt(thread, position).argument;
    for (unsigned i = 0; i < position; ++i) {
      const bool is_covered = commitsBefore(i) + allowed < committed;
      if (eventAt(thread, i).kind == Kind::kBulkStore && is_covered && isInFlight(state, thread, i))
        return false;
    }
    return true;
  }

  bool meet(State state, unsigned thread) {
    if (state.is_meeting[thread]) return false;
    state.is_meeting[thread] = true;
    settleLoads(state, thread);
    releaseMeeting(state);
    visit(state);
    return true;
  }

  /// The barrier waits for every thread that has not left.
  void releaseMeeting(State& state) const {
    Told told;
    for (unsigned thread = 0; thread < count_; ++thread) {
      if (isDone(state, thread)) continue;
      if (!state.is_meeting[thread]) return;
      told.add(releasedBy(state, thread));
    }
    for (unsigned thread = 0; thread < count_; ++thread) {
      if (isDone(state, thread)) continue;
      state.is_meeting[thread] = false;
      ++state.at[thread];
      state.told[thread] = told;
    }
  }

  // --- accesses ---

  static bool isWrite(Kind kind) { return kind == Kind::kCopy || kind == Kind::kStore; }
  static bool isConflict(const PhaseEvent& a, const PhaseEvent& b) {
    return isAccess(a.kind) && isAccess(b.kind) && a.slot == b.slot && (isWrite(a.kind) || isWrite(b.kind));
  }

  /// What a release of the thread tells.
  Told releasedBy(const State& state, unsigned thread) const {
    Told released = state.told[thread];
    for (unsigned i = 0; i < state.at[thread]; ++i) {
      const Kind kind = eventAt(thread, i).kind;
      if (isAccess(kind) && !isBulk(kind)) released.usable |= bitOf(thread, i);
    }
    return released;
  }

  /// The thread has released what it did before, as far as others may rely on for an access of this kind.
  bool isReleasedSince(const State& state, unsigned thread, unsigned position) const {
    const bool is_load = eventAt(thread, position).kind == Kind::kLoad;
    for (unsigned i = position + 1; i < state.at[thread]; ++i) {
      const PhaseEvent& event = eventAt(thread, i);
      const bool is_arrival = event.kind == Kind::kArrive || event.kind == Kind::kArriveExpect;
      if (event.kind == Kind::kSync) return true;
      if (is_arrival && (is_load || event.is_wide || !isRemote(thread, event))) return true;
    }
    return state.is_meeting[thread];
  }

  /// Of what the thread has not been told, its fence says nothing.
  void fence(State& state, unsigned thread) const {
    const Told known = releasedBy(state, thread);
    state.is_bare &= ~(known.usable | known.over);
  }

  /// A wait or a barrier needs the values of the thread's loads.
  void settleLoads(State& state, unsigned thread) const {
    for (unsigned i = 0; i < state.at[thread]; ++i) {
      if (eventAt(thread, i).kind == Kind::kLoad) state.is_bare &= ~bitOf(thread, i);
    }
  }

  void access(State& state, unsigned thread, unsigned position) {
    const PhaseEvent& event = eventAt(thread, position);
    for (unsigned other = 0; other < count_; ++other) {
      const unsigned end = other == thread ? position : state.at[other];
      for (unsigned i = 0; i < end; ++i) {
        if (isConflict(eventAt(other, i), event)) meetAccess(state, other, i, thread, event);
      }
    }
    if (isWrite(event.kind)) forgetSlot(state, event.slot);
    state.is_current |= bitOf(thread, position);
    if (!isBulk(event.kind)) state.is_bare |= bitOf(thread, position);
    if (event.kind == Kind::kCopy) noteUse(thread, position, state.barriers[event.barrier]);
  }

  void meetAccess(const State& state, unsigned other, unsigned i, unsigned thread, const PhaseEvent& event) {
    const PhaseEvent& before = eventAt(other, i);
    const EventSet bit = bitOf(other, i);
    const bool is_bulk = isBulk(before.kind);
    const bool is_own = other == thread && !is_bulk, is_current = (state.is_current & bit) != 0;
    const bool is_under_way =
        is_bulk ? isInFlight(state, other, i) : !is_own && is_current && !isReleasedSince(state, other, i);
    if (before.kind == Kind::kStore && event.kind == Kind::kStore) {
      answer_.has_store_race |= !is_own && (state.told[thread].usable & bit) == 0;
      return;
    }
    answer_.has_race |= is_under_way;
    // A read has only to be over; so has a copy that another one follows. Else the data has to be handed
    // over.
    const bool is_over = is_bulk ? !is_under_way : (state.told[thread].over & bit) != 0;
    const bool will_do = !isWrite(before.kind) || (is_bulk && isBulk(event.kind));
    const bool is_told = is_own || (state.told[thread].usable & bit) != 0 || (will_do && is_over);
    answer_.has_handover |= is_current && !is_told;
    answer_.has_unfenced |= !is_bulk && isBulk(event.kind) && (state.is_bare & bit) != 0;
  }

  void forgetSlot(State& state, unsigned slot) const {
    for (unsigned thread = 0; thread < count_; ++thread) {
      for (unsigned i = 0; i < events(thread).size(); ++i) {
        const PhaseEvent& event = eventAt(thread, i);
        if (isAccess(event.kind) && event.slot == slot) state.is_current &= ~bitOf(thread, i);
      }
    }
  }

  const PhaseProtocol& protocol_;
  unsigned count_;
  std::set<State> visited_;
  static constexpr std::uint32_t kNever = 1u << 31;
  /// In which phases each event was met, as bits.
  std::uint32_t phases_[kMaxPhaseThreads][kMaxPhaseEvents] = {};
  PhaseAnswer answer_;
};

}  // namespace

PhaseAnswer askPhaseOracle(const PhaseProtocol& protocol) { return PhaseSearch(protocol).run(); }

std::string toText(const PhaseAnswer& answer) {
  std::string text;
  const auto add = [&](bool holds, const char* name) { text += holds ? std::string(" ") + name : ""; };
  add(answer.has_deadlock, "deadlock");
  add(answer.has_race, "race");
  add(answer.has_store_race, "store-race");
  add(answer.has_handover, "handover");
  add(answer.has_unfenced, "unfenced");
  add(answer.is_ambiguous, "ambiguous");
  add(answer.is_overtaken, "overtaken");
  add(answer.is_unconsumed, "unconsumed");
  add(answer.has_overrun, "overrun");
  add(answer.has_late_expect, "late");
  add(answer.has_leftover, "leftover");
  add(answer.has_leak, "leak");
  return "oracle:" + (text.empty() ? " nothing" : text) + "\n";
}

}  // namespace handoff::test
