// SPDX-License-Identifier: Apache-2.0
// The log of a run: one entry per warp instruction that touches the protocol. Shadow memory, diagnosis and traces all
// refer to it.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "analyzer/machine/clock.h"
#include "analyzer/machine/lanes.h"
#include "analyzer/machine/program.h"

namespace handoff::machine {

/// 0: no event.
using EventId = std::uint32_t;

enum class EventKind : std::uint8_t {
  kRead, kWrite, kAtomic,          // generic accesses
  kCopy,                           // cp.async: writes shared memory, reads global memory, both later
  kCommit, kWaitGroup, kWaitAll,
  kCtaSync, kCtaArrive, kWarpSync,
  kMbarrierInit, kMbarrierInval, kMbarrierArrive, kMbarrierExpect, kMbarrierWait, kCopyArrive,
  kBulk,                           // bulk and tensor copies: both sides are accesses of the async proxy
  kAsyncStore,                     // st.async, red.async: generic proxy, completes later
  kMma,                            // wgmma, tcgen05: operand reads of the async proxy
  kTensorMemory,                   // tcgen05.ld, tcgen05.st
  kBulkCommit, kBulkWait, kBulkReadWait, kMmaFence, kMmaCommit, kMmaWait, kProxyFence,
  kClusterArrive, kClusterWait, kTensormapEdit, kTensorWait,
};

/// Operations whose effects come at a time of their own, after the instruction (PTX ISA, "Asynchronous Operations").
constexpr bool isAsync(EventKind kind) {
  return kind == EventKind::kCopy || kind == EventKind::kBulk || kind == EventKind::kAsyncStore || kind == EventKind::kMma ||
         kind == EventKind::kTensorMemory;
}
/// Accesses of the async proxy; all others are of the generic proxy (PTX ISA, "Proxies", "Async Proxy").
constexpr bool isAsyncProxy(EventKind kind) { return kind == EventKind::kBulk || kind == EventKind::kMma; }
/// Copies that fill memory (or drain it), by whatever engine.
constexpr bool isCopy(EventKind kind) {
  return kind == EventKind::kCopy || kind == EventKind::kBulk || kind == EventKind::kAsyncStore;
}

struct Event {
  OpIndex op = 0;
  std::uint32_t site = 0;   ///< Op::site
  std::uint32_t pass = 0;   ///< how often this op had run in this warp, from 1
  Epoch epoch = 0;          ///< of the warp when it happened
  LaneMask lanes = 0;
  std::uint32_t value = 0;  ///< copy: its group; commit: groups after it; wait: N; barriers: id, object or phase
  std::uint16_t warp = 0;
  EventKind kind = EventKind::kRead;
  bool is_strong = false;   ///< atomic, volatile or with an ordering qualifier: races with such are none
  /// A wait by parity that a phase satisfied for which this thread had waited before, or that was over before the first.
  bool is_repeat = false;
};

/// What one lane did in an event.
struct Access {
  EventId event = 0;
  unsigned lane = 0;
};

/// A bulk operation, asynchronous store or matrix multiplication of one thread (or warp), beside its event.
struct AsyncOp {
  /// What an observer has to know for the operation to be over: that many completed phases of the barrier `barrier`.
  struct Completion {
    ActorId barrier = 0;
    Epoch phases = 0;
    std::uint32_t cta = 0;     ///< rank of the CTA whose memory this completion is about
  };
  static constexpr std::uint32_t kNoGroup = 0xffffffffu;

  EventId event = 0;
  unsigned lane = 0;
  std::uint32_t group = kNoGroup;       ///< bulk or wgmma group of its thread
  std::uint64_t barrier_address = 0;    ///< shared address of the mbarrier it completes on, 0: none
  std::uint64_t bytes = 0;
  std::vector<Completion> completions;
};

class EventLog {
 public:
  EventLog() { events_.emplace_back(); }

  EventId add(const Event& event) {
    events_.push_back(event);
    return static_cast<EventId>(events_.size() - 1);
  }
  const Event& operator[](EventId id) const { return events_[id]; }
  Event& at(EventId id) { return events_[id]; }
  EventId end() const { return static_cast<EventId>(events_.size()); }

  /// Lanes of one copy whose threads had committed different numbers of groups.
  void setGroups(EventId copy, const std::array<std::uint32_t, kWarpSize>& groups) { groups_[copy] = groups; }
  std::uint32_t groupOf(EventId copy, unsigned lane) const {
    const auto it = groups_.find(copy);
    return it == groups_.end() ? events_[copy].value : it->second[lane];
  }

  /// In the order of their events.
  std::uint32_t addOp(AsyncOp op) {
    ops_.push_back(std::move(op));
    return static_cast<std::uint32_t>(ops_.size() - 1);
  }
  AsyncOp& op(std::uint32_t index) { return ops_[index]; }
  const AsyncOp& op(std::uint32_t index) const { return ops_[index]; }
  const AsyncOp* findOp(EventId event, unsigned lane) const {
    auto it = std::lower_bound(ops_.begin(), ops_.end(), event, [](const AsyncOp& op, EventId id) { return op.event < id; });
    while (it != ops_.end() && it->event == event && it->lane != lane) ++it;
    return it == ops_.end() || it->event != event ? nullptr : &*it;
  }

  /// The mbarrier of a wait.
  void setBarrier(EventId event, std::uint64_t address) { barriers_[event] = address; }
  std::uint64_t barrierOf(EventId event) const {
    const auto it = barriers_.find(event);
    return it == barriers_.end() ? 0 : it->second;
  }

  using ByLane = std::array<std::uint64_t, kWarpSize>;
  /// Global source address of each lane of a copy, and a key that is equal for copies that put equal bytes into the same
  /// place; 0 where they are not known.
  void setSources(EventId copy, const ByLane& sources, const ByLane& keys) {
    sources_.push_back({copy, sources, keys});  // events are logged in order, so this stays sorted
  }
  std::uint64_t sourceOf(EventId copy, unsigned lane) const {
    const Sources* sources = findSources(copy);
    return sources == nullptr ? 0 : sources->addresses[lane];
  }
  std::uint64_t contentKeyOf(EventId copy, unsigned lane) const {
    const Sources* sources = findSources(copy);
    return sources == nullptr ? 0 : sources->keys[lane];
  }
  /// What the copy brings is not known any more.
  void forgetContent(EventId copy) {
    if (const Sources* sources = findSources(copy); sources != nullptr) sources_[static_cast<std::size_t>(sources - sources_.data())].keys = {};
  }

 private:
  struct Sources {
    EventId copy = 0;
    ByLane addresses{}, keys{};
  };
  const Sources* findSources(EventId copy) const {
    const auto it = std::lower_bound(sources_.begin(), sources_.end(), copy,
                                     [](const Sources& s, EventId id) { return s.copy < id; });
    return it == sources_.end() || it->copy != copy ? nullptr : &*it;
  }

  std::vector<Event> events_;
  std::unordered_map<EventId, std::array<std::uint32_t, kWarpSize>> groups_;
  std::vector<Sources> sources_;
  std::vector<AsyncOp> ops_;
  std::unordered_map<EventId, std::uint64_t> barriers_;
};

}  // namespace handoff::machine
