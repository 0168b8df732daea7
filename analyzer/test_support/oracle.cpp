// SPDX-License-Identifier: Apache-2.0
// Depth-first search over all states of a protocol.
#include "analyzer/test_support/oracle.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

namespace handoff::test {

namespace {

using Kind = ProtocolEvent::Kind;

bool isAccess(Kind kind) { return kind == Kind::kCopy || kind == Kind::kLoad || kind == Kind::kStore; }

/// A copy: who issues it where, and the position of the wait that its thread cannot pass before it is
/// complete.
struct Copy {
  unsigned thread = 0, position = 0, slot = 0;
  unsigned group = ~0u;  ///< number of the group that takes it; ~0: never committed
};

/// Everything that differs between two moments. Group bookkeeping follows from the positions: the lists are
/// straight.
struct State {
  std::array<unsigned, 2> at{};
  std::array<bool, 2> at_barrier{};
  unsigned complete = 0;                            ///< bit by copy
  std::array<unsigned, kProtocolSlots> contents{};  ///< number of the write, 0: initial

  auto key() const { return std::tuple(at, at_barrier, complete, contents); }
};

class Search {
 public:
  explicit Search(const Protocol& protocol) : protocol_(protocol) {
    for (unsigned thread = 0; thread < 2; ++thread) indexCopies(thread);
  }

  OracleAnswer run() {
    visit(State{});
    for (const auto& [read, values] : seen_values_) answer_.is_deterministic &= values.size() == 1;
    return answer_;
  }

 private:
  const std::vector<ProtocolEvent>& events(unsigned thread) const { return protocol_.threads[thread]; }
  bool isDone(const State& state, unsigned thread) const { return state.at[thread] == events(thread).size(); }
  const ProtocolEvent& next(const State& state, unsigned thread) const {
    return events(thread)[state.at[thread]];
  }

  void indexCopies(unsigned thread) {
    unsigned group = 0;
    for (unsigned i = 0; i < events(thread).size(); ++i) {
      const ProtocolEvent& event = events(thread)[i];
      if (event.kind == Kind::kCopy) copies_.push_back({thread, i, event.argument, ~0u});
      if (event.kind != Kind::kCommit && event.kind != Kind::kWaitAll) continue;
      for (Copy& copy : copies_) {
        if (copy.thread == thread && copy.group == ~0u) copy.group = group;
      }
      ++group;
    }
  }

  unsigned committedBefore(unsigned thread, unsigned position) const {
    return static_cast<unsigned>(std::count_if(
        events(thread).begin(), events(thread).begin() + position,
        [](const ProtocolEvent& e) { return e.kind == Kind::kCommit || e.kind == Kind::kWaitAll; }));
  }

  bool isIssued(const State& state, const Copy& copy) const { return state.at[copy.thread] > copy.position; }
  bool isInFlight(const State& state, std::size_t copy) const {
    return isIssued(state, copies_[copy]) && !((state.complete >> copy) & 1);
  }

  // Groups complete in the order of their commits; copies of one group, and uncommitted ones, in any order.
  bool mayComplete(const State& state, std::size_t index) const {
    if (!isInFlight(state, index)) return false;
    const Copy& copy = copies_[index];
    const bool is_committed = copy.group < committedBefore(copy.thread, state.at[copy.thread]);
    for (std::size_t other = 0; other < copies_.size(); ++other) {
      const bool is_older = copies_[other].thread == copy.thread && copies_[other].group < copy.group;
      if (is_committed && is_older && isInFlight(state, other)) return false;
    }
    return true;
  }

  // A wait returns when at most N of the newest committed groups are unfinished; wait_all commits first.
  bool mayPass(const State& state, unsigned thread, const ProtocolEvent& event) const {
    const unsigned position = state.at[thread];
    const bool is_all = event.kind == Kind::kWaitAll;
    const unsigned committed = committedBefore(thread, position) + (is_all ? 1 : 0);
    const unsigned allowed = is_all ? 0 : event.argument;
    for (std::size_t c = 0; c < copies_.size(); ++c) {
      const Copy& copy = copies_[c];
      const bool covered =
          copy.thread == thread && copy.group < committed && committed - copy.group > allowed;
      if (covered && isInFlight(state, c)) return false;
    }
    return true;
  }

  void noteRaces(const State& state) {
    for (unsigned thread = 0; thread < 2; ++thread) {
      if (isDone(state, thread) || !isAccess(next(state, thread).kind)) continue;
      const ProtocolEvent& event = next(state, thread);
      for (std::size_t c = 0; c < copies_.size(); ++c) {
        answer_.has_race |= isInFlight(state, c) && copies_[c].slot == event.argument;
      }
    }
    if (isDone(state, 0) || isDone(state, 1)) return;
    const ProtocolEvent &a = next(state, 0), &b = next(state, 1);
    if (!isAccess(a.kind) || !isAccess(b.kind) || a.argument != b.argument) return;
    if (a.kind == Kind::kLoad && b.kind == Kind::kLoad) return;
    (a.kind == Kind::kStore && b.kind == Kind::kStore ? answer_.has_store_race : answer_.has_race) = true;
  }

  void visit(const State& state) {
    if (!visited_.insert(state.key()).second) return;
    ++answer_.states;
    noteRaces(state);
    for (std::size_t c = 0; c < copies_.size(); ++c) {
      if (mayComplete(state, c)) visit(completed(state, c));
    }
    bool is_end = state.complete + 1 == 1u << copies_.size();
    for (unsigned thread = 0; thread < 2; ++thread) {
      is_end &= isDone(state, thread);
      if (!isDone(state, thread)) step(state, thread);
    }
    if (!is_end) return;
    for (unsigned slot = 0; slot < kProtocolSlots; ++slot)
      seen_values_[{2, slot}].insert(state.contents[slot]);
  }

  State completed(State state, std::size_t copy) const {
    state.complete |= 1u << copy;
    state.contents[copies_[copy].slot] = writeNumber(copies_[copy].thread, copies_[copy].position);
    return state;
  }

  static unsigned writeNumber(unsigned thread, unsigned position) { return 1 + thread + 2 * position; }

  void step(const State& state, unsigned thread) {
    const ProtocolEvent& event = next(state, thread);
    State after = state;
    ++after.at[thread];
    switch (event.kind) {
      case Kind::kCopy:
      case Kind::kCommit:
        break;
      case Kind::kWaitGroup:
      case Kind::kWaitAll:
        if (!mayPass(state, thread, event)) return;
        break;
      case Kind::kSync:
        return meet(state, thread);
      case Kind::kLoad:
        seen_values_[{thread, state.at[thread]}].insert(state.contents[event.argument]);
        break;
      case Kind::kStore:
        after.contents[event.argument] = writeNumber(thread, state.at[thread]);
        break;
    }
    visit(after);
  }

  void meet(State state, unsigned thread) {
    if (state.at_barrier[thread]) return;
    state.at_barrier[thread] = true;
    if (state.at_barrier[0] && state.at_barrier[1]) {
      state.at_barrier = {};
      ++state.at[0];
      ++state.at[1];
    }
    visit(state);
  }

  const Protocol& protocol_;
  std::vector<Copy> copies_;
  std::set<decltype(State().key())> visited_;
  std::map<std::pair<unsigned, unsigned>, std::set<unsigned>> seen_values_;
  OracleAnswer answer_;
};

std::string toText(const ProtocolEvent& event) {
  const std::string number = std::to_string(event.argument);
  switch (event.kind) {
    case Kind::kCopy:
      return "copy " + number;
    case Kind::kCommit:
      return "commit";
    case Kind::kWaitGroup:
      return "wait_group " + number;
    case Kind::kWaitAll:
      return "wait_all";
    case Kind::kSync:
      return "sync";
    case Kind::kLoad:
      return "load " + number;
    case Kind::kStore:
      return "store " + number;
  }
  return "";
}

std::string toPtx(const ProtocolEvent& event, std::uint32_t source) {
  const std::string number = std::to_string(event.argument);
  const std::string slot = "[tile+" + std::to_string(16 * event.argument) + "]";
  switch (event.kind) {
    case Kind::kCopy:
      return "cp.async.cg.shared.global " + slot + ", [%in+" + std::to_string(source) + "], 16;";
    case Kind::kCommit:
      return "cp.async.commit_group;";
    case Kind::kWaitGroup:
      return "cp.async.wait_group " + number + ";";
    case Kind::kWaitAll:
      return "cp.async.wait_all;";
    case Kind::kSync:
      return "barrier.sync 0;";
    case Kind::kLoad:
      return "ld.shared.v4.u32 {%r1, %r2, %r3, %r4}, " + slot + ";";
    case Kind::kStore:
      return "st.shared.v4.u32 " + slot + ", {%r5, %r6, %r7, %r8};";
  }
  return "";
}

ProtocolEvent randomEvent(std::mt19937& random) {
  // Waits and barriers are drawn more often than accesses: else nearly every protocol races.
  static constexpr Kind kKinds[] = {Kind::kCopy,      Kind::kCopy,      Kind::kCommit,  Kind::kCommit,
                                    Kind::kWaitGroup, Kind::kWaitGroup, Kind::kWaitAll, Kind::kSync,
                                    Kind::kSync,      Kind::kSync,      Kind::kLoad,    Kind::kStore};
  ProtocolEvent event{.kind = kKinds[random() % std::size(kKinds)], .argument = 0};
  if (isAccess(event.kind)) event.argument = static_cast<unsigned>(random() % kProtocolSlots);
  if (event.kind == Kind::kWaitGroup) event.argument = static_cast<unsigned>(random() % 3);
  return event;
}

}  // namespace

Protocol randomProtocol(std::mt19937& random, unsigned max_events) {
  Protocol protocol;
  std::array<std::ptrdiff_t, 2> barriers{};
  const auto isSync = [](const ProtocolEvent& e) { return e.kind == Kind::kSync; };
  for (unsigned thread = 0; thread < 2; ++thread) {
    const unsigned count = 1 + static_cast<unsigned>(random() % max_events);
    for (unsigned i = 0; i < count; ++i) protocol.threads[thread].push_back(randomEvent(random));
    barriers[thread] =
        std::count_if(protocol.threads[thread].begin(), protocol.threads[thread].end(), isSync);
  }
  for (unsigned thread = 0; thread < 2; ++thread) {
    auto& events = protocol.threads[thread];
    for (std::ptrdiff_t extra = barriers[thread] - barriers[1 - thread]; extra > 0; --extra) {
      events.erase(std::find_if(events.begin(), events.end(), isSync));
    }
  }
  return protocol;
}

std::string toText(const Protocol& protocol) {
  std::string text;
  for (unsigned thread = 0; thread < 2; ++thread) {
    text += "thread " + std::to_string(thread) + ":";
    for (const ProtocolEvent& event : protocol.threads[thread]) text += " " + toText(event) + ";";
    text += "\n";
  }
  return text;
}

std::string toPtx(const Protocol& protocol) {
  std::string text = "setp.ne.u32 %p1, %lane, 0;\n@%p1 ret;\nsetp.ne.u32 %p2, %w, 0;\n@%p2 bra SECOND;\n";
  std::uint32_t source = 0;
  for (unsigned thread = 0; thread < 2; ++thread) {
    if (thread == 1) text += "SECOND:\n";
    for (const ProtocolEvent& event : protocol.threads[thread]) text += toPtx(event, source += 16) + "\n";
    text += "ret;\n";
  }
  return text;
}

OracleAnswer askOracle(const Protocol& protocol) { return Search(protocol).run(); }

}  // namespace handoff::test
