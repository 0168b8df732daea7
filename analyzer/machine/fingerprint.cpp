// SPDX-License-Identifier: Apache-2.0
// Ranks of times, and the parts of a state.
#include "analyzer/machine/fingerprint.h"

#include <algorithm>
#include <set>
#include <unordered_map>

namespace handoff::machine {

namespace {

/// The times of each actor that somebody may still be asked about.
class Ranks {
 public:
  explicit Ranks(std::size_t warps) : warps_(warps), of_warp_(warps) {}

  void addEpoch(std::uint32_t warp, Epoch epoch) { of_warp_[warp].push_back(epoch); }
  void addPhase(ActorId barrier, Epoch phases) { of_barrier_[barrier].push_back(phases); }
  void sort() {
    for (auto& times : of_warp_) sortTimes(times);
    for (auto& [actor, times] : of_barrier_) sortTimes(times);
  }
  /// How many of the actor's times are not later.
  std::uint64_t of(ActorId actor, Epoch time) const {
    const bool is_lane = actor < warps_ * kWarpSize;
    const auto it = is_lane ? of_barrier_.end() : of_barrier_.find(actor);
    if (!is_lane && it == of_barrier_.end()) return 0;
    const auto& times = is_lane ? of_warp_[actor / kWarpSize] : it->second;
    return static_cast<std::uint64_t>(std::upper_bound(times.begin(), times.end(), time) - times.begin());
  }
  std::uint64_t ofWarp(std::uint32_t warp, Epoch time) const { return of(warp * kWarpSize, time); }

 private:
  static void sortTimes(std::vector<Epoch>& times) {
    std::sort(times.begin(), times.end());
    times.erase(std::unique(times.begin(), times.end()), times.end());
  }

  std::size_t warps_;
  std::vector<std::vector<Epoch>> of_warp_;
  std::unordered_map<ActorId, std::vector<Epoch>> of_barrier_;
};

/// Phases this far behind are all alike: whoever means one of them is wrong anyway.
constexpr Phase kFarBehind = 4;

class Hasher {
 public:
  Hasher(const StateView& view, HashRoom& room)
      : run_(view.run), cluster_(view.run.cluster), log_(view.run.log()), view_(view), room_(room), ranks_(cluster_.warps.size()) {
    room_.noted.resize(log_.end(), 0);
    room_.block.resize(log_.end(), 0);
    room_.blocks.clear();
  }
  ~Hasher() {
    for (const EventId event : room_.touched) room_.noted[event] = room_.block[event] = 0;
    room_.touched.clear();
  }
  Hasher(const Hasher&) = delete;
  Hasher& operator=(const Hasher&) = delete;

  StateHash hash() {
    collect();
    ranks_.sort();
    for (const Warp& warp : cluster_.warps) {
      hashControl(warp);
      hashGroups(warp);
      hashClocks(warp);
      hashLocal(warp);
    }
    for (const Cta& cta : cluster_.ctas) {
      hashShadow(cta);
      hashBarriers(cta);
      if (run_.program.needs_shared_contents) hashBytes(cta.shared);
    }
    hashCluster();
    StateHash all{.state = 0, .parts = parts_};
    for (const std::uint64_t part : parts_) all.state = mix(all.state, part);
    return all;
  }

 private:
  void add(StatePart part, std::uint64_t word) {
    std::uint64_t& hash = parts_[static_cast<unsigned>(part)];
    hash = mix(hash, word);
  }

  // --- first pass: which times matter ---

  template <typename F>
  void forEachCompletion(Access access, F&& f) const {
    const Event& event = log_[access.event];
    const Warp& warp = cluster_.warps[event.warp];
    const auto retired = [&](const CopyGroups& groups, unsigned lane, std::uint32_t group, std::uint32_t of_warp) {
      if (groups.isRetired(lane, group)) f(of_warp * kWarpSize + lane, groups.retireEpoch(lane, group));
    };
    if (event.kind == EventKind::kCopy) {
      retired(warp.copies, access.lane, log_.groupOf(access.event, access.lane), event.warp);
      for (const CopyGroups::Tracked& tracked : warp.copies.tracked(access.lane)) {
        if (access.event < tracked.upto) return f(tracked.barrier, tracked.known_from);
      }
    } else if (isAsync(event.kind)) {
      const AsyncOp* op = log_.findOp(access.event, access.lane);
      if (op == nullptr) return;
      for (const AsyncOp::Completion& completion : op->completions) f(completion.barrier, completion.phases);
      if (op->group == AsyncOp::kNoGroup) return;
      if (event.kind == EventKind::kMma) {
        for (const Warp& other : cluster_.warpgroupOf(warp)) retired(other.mma, 0, op->group, other.id);
      } else if (event.kind == EventKind::kTensorMemory) {
        retired(event.value == 0 ? warp.tensor_loads : warp.tensor_stores, access.lane, op->group, event.warp);
      } else {
        retired(warp.bulk, access.lane, op->group, event.warp);
        retired(warp.bulk_reads, access.lane, op->group, event.warp);
      }
    }
  }

  void noteAccess(Access access) { noteAccesses(access.event, laneBit(access.lane)); }
  void noteAccesses(EventId event, LaneMask lanes) {
    if (event == 0) return;
    LaneMask& noted = room_.noted[event];
    const LaneMask fresh = lanes & ~noted;
    if (fresh == 0) return;
    if (noted == 0) room_.touched.push_back(event);
    noted |= fresh;
    ranks_.addEpoch(log_[event].warp, log_[event].epoch);
    forEachLane(fresh, [&](unsigned lane) {
      forEachCompletion({event, lane}, [&](ActorId actor, Epoch time) { noteTime(actor, time); });
    });
  }
  void noteTime(ActorId actor, Epoch time) {
    if (actor < cluster_.warps.size() * kWarpSize) {
      ranks_.addEpoch(actor / kWarpSize, time);
    } else {
      ranks_.addPhase(actor, time);
    }
  }

  // Only a store may be overwritten by another one that nothing orders with it, and then these reads count (races.cpp).
  ReadSetId hiddenReads(const Cell& cell) const { return isAsync(log_[eventOf(cell.write)].kind) ? 0 : cell.previous_reads; }

  void noteShadow(const Shadow* shadow) {
    if (shadow == nullptr) return;
    Cell last;
    for (const Cell& cell : shadow->cells()) {
      if (cell.isLike(last)) continue;
      last = cell;
      noteAccess({eventOf(cell.write), laneOf(cell.write)});
      for (const ReadSetId set : {cell.reads, cell.unordered, hiddenReads(cell)}) {
        view_.reads.forEach(set, [&](const ReadSets::Node& node) {
          noteAccesses(node.event, node.lanes);
          return true;
        });
      }
    }
  }

  void collect() {
    for (const Warp& warp : cluster_.warps) {
      ranks_.addEpoch(warp.id, warp.clock.epoch());
      for (const std::uint32_t op : warp.pending_mma) noteAccess({log_.op(op).event, log_.op(op).lane});
    }
    for (const Cta& cta : cluster_.ctas) {
      noteShadow(cta.shadow.get());
      noteShadow(cta.tensor_shadow.get());
      for (const UnknownAccess& access : cta.unknown) {
        noteAccesses(access.event, access.lanes);
      }
      for (const auto& [key, use] : cta.uses) {
        noteAccess({use.event, use.lane});
        if (use.has_barrier) ranks_.addPhase(use.barrier, use.phases);
      }
      for (const auto& [address, object] : cta.mbarriers) noteBarrier(object);
      for (unsigned id = 0; id < kBarriersPerCta; ++id) noteGenerations(cluster_.generationActor(cta, id), cta.barriers[id].generation());
    }
    noteGenerations(cluster_.clusterActor(), cluster_.barrier.generation());
    for (const Access& access : view_.undrained) noteAccess(access);
    for (const auto& [warp, list] : view_.multiplications) {
      for (std::size_t i = firstPending(warp); i < list.size(); ++i) noteAccess({list[i].event, 0});
    }
  }

  void noteGenerations(ActorId barrier, std::uint32_t generation) {
    ranks_.addPhase(barrier, generation);
    if (generation != 0) ranks_.addPhase(barrier, generation - 1);
  }

  // Who used an object counts only where one may end before its CTA does.
  std::vector<const std::vector<MbarrierObject::Arriver>*> arriversOf(const MbarrierObject& object) const {
    std::vector all{&object.openArrivers(), &object.completedArrivers(), &object.earlierArrivers()};
    if (run_.program.ends_barriers) all.push_back(&object.users());
    return all;
  }

  void noteBarrier(const MbarrierObject& object) {
    for (Phase back = 0; back < kFarBehind && back <= object.phase(); ++back) ranks_.addPhase(object.actor(), object.phase() - back);
    ranks_.addPhase(object.initActor(), object.lives());
    for (const auto& waiter : object.waiters()) ranks_.addEpoch(waiter.warp, waiter.epoch);
    for (const auto* arrivers : arriversOf(object)) {
      for (const auto& arriver : *arrivers) ranks_.addEpoch(arriver.warp, arriver.epoch);
    }
    for (const auto& expect : object.pendingExpects()) ranks_.addEpoch(expect.warp, expect.epoch);
  }

  // Multiplications that every warp of the warpgroup has executed are over with.
  std::size_t firstPending(std::size_t first_warp) const {
    std::size_t least = ~std::size_t{0};
    for (const Warp& warp : cluster_.warpgroupOf(cluster_.warps[first_warp])) least = std::min(least, warp.multiplications);
    return least;
  }

  // --- second pass ---

  std::uint64_t hashOf(Access access) {
    if (access.event == 0) return 0;
    const bool is_noted = (room_.noted[access.event] & laneBit(access.lane)) != 0;
    return is_noted ? hashesOf(access.event)[access.lane] : hashOfAccess(access);
  }

  // Of the lanes that matter: those that the first pass noted.
  const std::array<std::uint64_t, kWarpSize>& hashesOf(EventId event) {
    std::uint32_t& block = room_.block[event];
    if (block == 0) {
      room_.blocks.emplace_back();
      block = static_cast<std::uint32_t>(room_.blocks.size());
      forEachLane(room_.noted[event], [&](unsigned lane) { room_.blocks.back()[lane] = hashOfAccess({event, lane}); });
    }
    return room_.blocks[block - 1];
  }

  std::uint64_t hashOfAccess(Access access) {
    const Event& event = log_[access.event];
    std::uint64_t hash = mix(event.op, event.warp * kWarpSize + access.lane);
    hash = mix(hash, (static_cast<std::uint64_t>(event.kind) << 1) | event.is_strong);
    hash = mix(hash, ranks_.ofWarp(event.warp, event.epoch));
    if (event.kind == EventKind::kCopy) {
      const CopyGroups& groups = cluster_.warps[event.warp].copies;
      const std::uint32_t group = log_.groupOf(access.event, access.lane);
      hash = mix(hash, groups.isRetired(access.lane, group) ? ~0ull : groups.committed(access.lane) - group);
    } else if (const AsyncOp* op = isAsync(event.kind) ? log_.findOp(access.event, access.lane) : nullptr; op != nullptr) {
      hash = mix(hash, op->group == AsyncOp::kNoGroup ? ~0ull : pendingAge(event, access.lane, op->group));
      hash = mix(hash, op->bytes);
    }
    forEachCompletion(access, [&](ActorId actor, Epoch time) { hash = mix(mix(hash, actor), ranks_.of(actor, time)); });
    return hash;
  }

  std::uint64_t pendingAge(const Event& event, unsigned lane, std::uint32_t group) const {
    const Warp& warp = cluster_.warps[event.warp];
    const CopyGroups& groups = event.kind == EventKind::kMma             ? warp.mma
                               : event.kind == EventKind::kTensorMemory ? (event.value == 0 ? warp.tensor_loads : warp.tensor_stores)
                                                                        : warp.bulk;
    return groups.isRetired(lane, group) ? ~0ull : groups.committed(lane) - group;
  }

  // By runs of one rank: lanes of a warp mostly know the same.
  std::uint64_t hashOf(const Clock& clock) {
    std::uint64_t hash = 0;
    for (unsigned v = 0; v < kViews; ++v) {
      const std::vector<Epoch>& times = clock.times(static_cast<View>(v));
      std::uint64_t rank = 0;
      std::size_t first = 0;
      const auto endRun = [&](std::size_t end) {
        if (rank != 0) hash = mix(mix(hash, (first << 32) | end), (rank << 3) | v);
      };
      for (std::size_t actor = 0; actor < times.size(); ++actor) {
        const bool is_alike = actor % kWarpSize != 0 && actor < cluster_.warps.size() * kWarpSize && times[actor] == times[actor - 1];
        if (is_alike) continue;
        const std::uint64_t own = times[actor] == 0 ? 0 : ranks_.of(static_cast<ActorId>(actor), times[actor]);
        if (own == rank && actor != 0) continue;
        endRun(actor);
        rank = own;
        first = actor;
      }
      endRun(times.size());
    }
    return hash;
  }

  void hashControl(const Warp& warp) {
    constexpr StatePart part = StatePart::kControl;
    add(part, warp.live);
    for (const Fragment& fragment : warp.fragments) {
      add(part, (std::uint64_t{fragment.pc} << 32) | fragment.lanes);
      add(part, (static_cast<std::uint64_t>(fragment.state) << 32) | static_cast<std::uint32_t>(fragment.join));
      add(part, (fragment.has_deferred ? 1u : 0u) | (fragment.may_fail_poll ? 2u : 0u) | (fragment.polled_at == view_.progress ? 4u : 0u));
      if (fragment.state == Fragment::State::kAtCtaBarrier || fragment.state == Fragment::State::kAtWarpBarrier) add(part, fragment.barrier);
      if (fragment.state == Fragment::State::kPolling) add(part, fragment.object);
    }
    for (const Join& join : warp.joins) {
      add(part, (std::uint64_t{join.pc} << 32) | join.expected);
      add(part, (std::uint64_t{join.arrived} << 32) | static_cast<std::uint32_t>(join.parent));
    }
    add(part, (warp.has_broken_join ? 1u : 0u) | (warp.has_polled_flag ? 2u : 0u));
    add(part, warp.at_cluster);
    forEachLane(warp.at_cluster, [&](unsigned lane) { add(part, cluster_.barrier.generation() - warp.cluster_generation[lane]); });
  }

  void hashGroups(const Warp& warp) {
    for (const CopyGroups* groups : {&warp.copies, &warp.bulk, &warp.bulk_reads, &warp.tensor_loads, &warp.tensor_stores, &warp.mma}) {
      for (unsigned lane = 0; lane < kWarpSize; ++lane) {
        std::uint64_t hash = groups->openCopies(lane) != 0;
        for (std::uint32_t group = groups->retired(lane); group < groups->committed(lane); ++group) {
          hash = mix(hash, groups->copiesIn(lane, group) != 0 ? 2 : 1);
        }
        add(StatePart::kGroups, hash);
      }
    }
    for (const auto& [committed, clock] : warp.mma_issued) {
      if (committed < warp.mma.retired(0)) continue;
      add(StatePart::kGroups, warp.mma.committed(0) - committed);
      add(StatePart::kGroups, hashOf(clock));
    }
    for (const std::uint32_t op : warp.pending_mma) add(StatePart::kGroups, hashOf(Access{log_.op(op).event, log_.op(op).lane}));
  }

  void hashClocks(const Warp& warp) {
    for (unsigned lane = 0; lane < kWarpSize; ++lane) {
      if (!(warp.live & laneBit(lane))) continue;
      const Clock& clock = warp.clock.of(lane);
      auto known = clock_hashes_.find(&clock);
      if (known == clock_hashes_.end()) known = clock_hashes_.emplace(&clock, hashOf(clock)).first;
      add(StatePart::kClocks, known->second);
      std::uint64_t kind = lane;
      for (const auto* clocks : {&warp.released_by_fence, &warp.to_acquire, &warp.released_afar, &warp.to_acquire_afar}) {
        if ((*clocks)[lane]) add(StatePart::kClocks, mix(kind, hashOf(*(*clocks)[lane])));
        kind += kWarpSize;
      }
    }
  }

  void hashBytes(const Bytes& bytes) {
    for (std::size_t i = 0; i < bytes.value.size(); ++i) {
      add(StatePart::kContents, bytes.known[i] ? bytes.value[i] + 1u : 0u);
    }
  }

  void hashLocal(const Warp& warp) {
    if (warp.local.empty()) return;
    forEachLane(warp.live, [&](unsigned lane) { hashBytes(warp.local[lane]); });
  }

  std::uint64_t hashOfSet(ReadSetId set) {
    std::uint64_t all = 0;  // a set: the order does not count
    view_.reads.forEach(set, [&](const ReadSets::Node& node) {
      const auto& hashes = hashesOf(node.event);
      forEachLane(node.lanes, [&](unsigned lane) { all += hashes[lane]; });
      return true;
    });
    return all;
  }

  void hashShadow(const Cta& cta) {
    for (const Shadow* shadow : {cta.shadow.get(), cta.tensor_shadow.get()}) {
      if (shadow == nullptr) continue;
      Cell last;
      std::uint64_t last_hash = 0;
      for (const Cell& cell : shadow->cells()) {
        if (!cell.isLike(last)) {
          last = cell;
          last_hash = mix(hashOf(Access{eventOf(cell.write), laneOf(cell.write)}), hashOfSet(cell.reads));
          if (cell.unordered != 0) last_hash = mix(last_hash, hashOfSet(cell.unordered));
          if (const ReadSetId hidden = hiddenReads(cell); hidden != 0) last_hash = mix(last_hash, hashOfSet(hidden));
        }
        add(StatePart::kShared, last_hash);
      }
    }
    std::uint64_t unknown = 0;
    for (const UnknownAccess& access : cta.unknown) {
      std::uint64_t hash = mix(access.shape, (std::uint64_t{access.bytes} << 2) | (access.reads ? 2u : 0u) | (access.writes ? 1u : 0u));
      forEachLane(access.lanes, [&](unsigned lane) { hash = mix(mix(hash, access.spans[lane].low), hashOf(Access{access.event, lane})); });
      for (std::size_t i = 0; i < access.overwritten.size(); ++i) hash = access.overwritten[i] ? mix(hash, i) : hash;
      unknown += hash;  // their order does not count
    }
    add(StatePart::kShared, unknown);
    std::uint64_t uses = 0;
    for (const auto& [key, use] : cta.uses) {
      std::uint64_t hash = mix(key.first * 2 + key.second, hashOf(Access{use.event, use.lane}));
      if (use.has_barrier) hash = mix(hash, ranks_.of(use.barrier, use.phases));
      uses += mix(hash, (use.is_source ? 1u : 0u) | (use.is_access ? 2u : 0u));
    }
    add(StatePart::kShared, uses);
    for (const auto& [column, allocated] : cta.tensor_columns) add(StatePart::kShared, mix(column, allocated.columns));
    add(StatePart::kShared, cta.tensor_relinquished != 0);
  }

  void hashBarriers(const Cta& cta) {
    constexpr StatePart part = StatePart::kBarriers;
    for (const CtaBarrier& barrier : cta.barriers) {
      add(part, barrier.expectedThreads());
      for (const auto& arrival : barrier.arrivals()) add(part, mix(arrival.warp * 2u + arrival.waits, arrival.lanes));
      if (!barrier.isActive()) continue;
      add(part, hashOf(barrier.clock()));
      const auto& reduction = barrier.reduction();
      add(part, (reduction.is_known ? 1u : 0u) | (reduction.all ? 2u : 0u) | (reduction.any ? 4u : 0u) | (std::uint64_t{reduction.count} << 3));
    }
    for (const auto& [address, object] : cta.mbarriers) hashBarrier(cta, address, object);
    add(StatePart::kClocks, hashOf(cta.exit_clock));
  }

  void hashBarrier(const Cta& cta, std::uint64_t address, const MbarrierObject& object) {
    constexpr StatePart part = StatePart::kBarriers;
    add(part, address * 4 + object.isLive() * 2 + object.parity());
    add(part, (std::uint64_t{object.expected()} << 32) | object.pending());
    add(part, static_cast<std::uint64_t>(object.transactions()));
    for (const Clock* clock : {&object.openClock(), &object.openRemoteClock(), &object.completedClock(), &object.completedRemoteClock()}) {
      add(part, hashOf(*clock));
    }
    const auto behind = [&](Phase phase) { return object.phase() - std::min(phase, object.phase()); };
    for (const auto& [phase, bytes] : object.bytes()) {
      add(part, phase > object.phase() ? ~std::uint64_t{phase - object.phase()} : behind(phase));
      add(part, static_cast<std::uint64_t>(bytes.expected));
      add(part, static_cast<std::uint64_t>(bytes.delivered));
    }
    for (const auto* arrivers : arriversOf(object)) {
      std::uint64_t all = 0;
      for (const auto& arriver : *arrivers) all += mix(mix(arriver.warp, arriver.lanes), ranks_.ofWarp(arriver.warp, arriver.epoch));
      add(part, all);
    }
    std::uint64_t waiters = 0;
    for (const auto& waiter : object.waiters()) {
      waiters += mix(mix(mix(waiter.warp, waiter.lanes), behind(waiter.phase)), ranks_.ofWarp(waiter.warp, waiter.epoch));
    }
    add(part, waiters);
    for (const auto& expect : object.pendingExpects()) add(part, mix(expect.warp * kWarpSize + expect.lane, ranks_.ofWarp(expect.warp, expect.epoch)));
    std::uint64_t seen = 0;
    for (std::size_t w = cta.first_warp; w < cta.first_warp + cta.warp_count; ++w) {
      for (unsigned lane = 0; lane < kWarpSize; ++lane) {
        const auto it = cluster_.warps[w].seen_phases.find({address, lane});
        if (it != cluster_.warps[w].seen_phases.end()) seen += mix(w * kWarpSize + lane, std::min<Phase>(behind(it->second), 2));
      }
    }
    add(part, seen);
  }

  void hashCluster() {
    constexpr StatePart part = StatePart::kBarriers;
    for (std::size_t w = 0; w < cluster_.warps.size(); ++w) add(part, cluster_.barrier.arrivedOf(w));
    for (const std::uint32_t registers : view_.register_pool) add(StatePart::kControl, registers);
    add(part, hashOf(cluster_.barrier.openClock()));
    add(part, hashOf(cluster_.barrier.completedClock()));
    for (const auto& [key, flag] : cluster_.flags) add(StatePart::kClocks, mix(mix(key, hashOf(flag.near)), hashOf(flag.afar)));
    std::set<std::uint64_t> stores;  // finished ones are all alike
    for (const Access& access : view_.undrained) stores.insert(hashOf(access));
    for (const std::uint64_t hash : stores) add(StatePart::kGroups, hash);
    for (const auto& [warp, list] : view_.multiplications) {
      for (std::size_t i = firstPending(warp); i < list.size(); ++i) {
        add(StatePart::kGroups, mix(mix(hashOf(Access{list[i].event, 0}), list[i].a), list[i].b));
      }
      for (const Warp& other : cluster_.warpgroupOf(cluster_.warps[warp])) add(StatePart::kGroups, list.size() - other.multiplications);
    }
    // Edits of tensor maps have no normal form: such states are never equal.
    if (!view_.tensormaps.empty()) add(StatePart::kContents, log_.end());
  }

  const RunState& run_;
  const Cluster& cluster_;
  const EventLog& log_;
  const StateView& view_;
  HashRoom& room_;
  Ranks ranks_;
  std::unordered_map<const Clock*, std::uint64_t> clock_hashes_;
  std::array<std::uint64_t, 6> parts_{};
};

}  // namespace

StateHash hashState(const StateView& view, HashRoom& room) { return Hasher(view, room).hash(); }

}  // namespace handoff::machine
