// SPDX-License-Identifier: Apache-2.0
// The state of a run: warps with their lanes, fragments and joins; memory and barriers of the CTAs of a cluster.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "analyzer/machine/address.h"
#include "analyzer/machine/clock.h"
#include "analyzer/machine/cluster_barrier.h"
#include "analyzer/machine/copy_groups.h"
#include "analyzer/machine/cta_barrier.h"
#include "analyzer/machine/launch.h"
#include "analyzer/machine/mbarrier.h"
#include "analyzer/machine/program.h"
#include "analyzer/machine/shadow.h"
#include "analyzer/machine/unknown_access.h"
#include "analyzer/symbolic/term.h"

namespace handoff::machine {

/// Lanes of a warp that execute together. A divergent branch splits a fragment; the parts meet again at the branch's
/// immediate post-dominator, and each can run while the other waits (independent thread scheduling).
struct Fragment {
  enum class State : std::uint8_t {
    kReady,
    kDeferred,  ///< lets the other fragments of its warp run first: they may exit or catch up
    kAtCtaBarrier, kAtWarpBarrier, kPolling,
    kAtClusterBarrier, kAtMmaWait, kAtRegisterPool,
  };
  OpIndex pc = 0;
  LaneMask lanes = 0;
  int join = -1;             ///< index into Warp::joins
  State state = State::kReady;
  std::uint32_t barrier = 0;       ///< kAtCtaBarrier: id; kAtWarpBarrier: lane mask
  std::uint64_t object = 0;        ///< kPolling: address of the mbarrier in the warp's CTA
  Phase wanted = 0;                ///< kPolling: completed phases that end the wait
  std::uint64_t polled_at = ~0ull; ///< progress counter when a poll was last allowed to return false
  bool has_deferred = false;
  bool may_fail_poll = false;      ///< the next poll may return false instead of waiting
};

/// A point where fragments meet again.
struct Join {
  OpIndex pc = kNoOp;
  LaneMask expected = 0, arrived = 0;
  int parent = -1;
};

/// Bytes with a "known" flag each.
struct Bytes {
  std::vector<std::uint8_t> value, known;

  void resize(std::size_t size) { value.resize(size), known.resize(size, 0); }
  bool contains(std::uint64_t at, std::uint64_t size) const { return at < value.size() && size <= value.size() - at; }
  bool read(std::uint64_t at, unsigned size, std::uint64_t& word) const;
  void write(std::uint64_t at, unsigned size, std::uint64_t word, bool is_known);
};

struct Warp {
  Warp(std::uint16_t index, std::uint32_t cta_rank, std::uint16_t index_in_cta, LaneMask live_lanes)
      : id(index), cta(cta_rank), rank(index_in_cta), started(live_lanes), live(live_lanes), clock(index * kWarpSize) {}

  std::uint16_t id;                  ///< counts through all CTAs of the cluster
  std::uint32_t cta;                 ///< rank of its CTA in the cluster
  std::uint16_t rank;                ///< within its CTA
  LaneMask started;                  ///< lanes that exist
  LaneMask live;                     ///< lanes that exist and have not exited
  WarpClock clock;
  CopyGroups copies;                 ///< cp.async
  CopyGroups bulk, bulk_reads;       ///< bulk groups: complete, and with their sources read (wait_group.read)
  CopyGroups tensor_loads, tensor_stores;  ///< tcgen05.ld and .st, up to their waits
  CopyGroups mma;                    ///< wgmma groups; all lanes alike
  std::map<std::uint32_t, Clock> mma_issued;  ///< by committed groups: what had come before the last of them
  std::size_t multiplications = 0;   ///< wgmma.mma_async executed
  std::vector<std::uint32_t> pending_mma;  ///< tcgen05 operations that no commit covers yet (EventLog::op)
  std::vector<Lanes> registers;
  std::vector<symbolic::TermId> terms;  ///< by register: how it depends on the inputs; empty when nobody asks
  std::vector<symbolic::TermId> data;   ///< by register: its unknown lanes as terms over data; kConcrete: anything
  /// By register, for meetBoundary: the shape of `data` when it was last met, and that it keeps changing.
  std::vector<std::uint64_t> data_shapes;
  std::vector<bool> has_moving_data;
  std::vector<Fragment> fragments;
  std::vector<Join> joins;
  std::vector<std::uint32_t> passes; ///< by op
  std::vector<Bytes> local;          ///< by lane
  /// Fence-based synchronisation, by lane: what a release fence published, and what relaxed loads and waits would acquire.
  std::array<std::shared_ptr<Clock>, kWarpSize> released_by_fence, to_acquire;
  /// The same between CTAs, which takes a fence of cluster scope or wider.
  std::array<std::shared_ptr<Clock>, kWarpSize> released_afar, to_acquire_afar;
  std::vector<std::uint64_t> watched;  ///< by register: the watched loads whose value it may hold (used_reads.h)
  LaneMask at_cluster = 0;           ///< lanes that have arrived at the cluster barrier and not waited since
  std::array<std::uint32_t, kWarpSize> cluster_generation{};  ///< that such a lane waits to be complete
  /// By mbarrier address and lane: completed phases that a wait has shown.
  std::map<std::pair<std::uint64_t, unsigned>, Phase> seen_phases;
  Epoch instruction_epoch = 0;       ///< when the present instruction began: each barrier it arrives at starts a new epoch
  bool has_broken_join = false;      ///< lanes went on without the others, which were waiting for something
  bool has_polled_flag = false;      ///< read a strong location since the last progress anywhere
};

/// Memory of a CTA in use by somebody, for whom the CTA has to stay: what its last thread must know before it exits.
struct MemoryUse {
  EventId event = 0;
  unsigned lane = 0;
  ActorId barrier = 0;      ///< known by that many phases of this barrier ...
  Epoch phases = 0;
  bool has_barrier = false;
  bool is_source = false;   ///< a copy to another CTA reads it
  bool is_access = false;   ///< ... or, for accesses of a thread itself, by a later event of that thread
};

inline constexpr unsigned kWarpsPerWarpgroup = 4;

/// One wgmma.mma_async as the first warp of its warpgroup executed it.
struct Multiplication {
  EventId event = 0;
  std::uint64_t a = 0, b = 0;  ///< matrix descriptors
};

/// What a word in shared memory hands over: to its own CTA by threads of that one, and by whom the scope includes all.
struct Flag {
  Clock near, afar;
};

/// A tensor map in global memory that the kernel edits.
struct TensormapState {
  Access edit;                       ///< the last one; event 0: none yet
  bool is_released = false;          ///< a release fence of the tensormap proxy came after it
  std::vector<Access> acquires;      ///< acquire fences of this map since
  std::vector<Access> uses;          ///< tensor copies through it
};

struct Cta {
  std::uint32_t rank = 0;                           ///< in the cluster
  Dim3 index{};                                     ///< in the grid
  std::size_t first_warp = 0, warp_count = 0;       ///< in Cluster::warps
  std::vector<LaneMask> live;                       ///< by warp, mirrors Warp::live
  std::array<CtaBarrier, kBarriersPerCta> barriers;
  std::map<std::uint64_t, MbarrierObject> mbarriers;  ///< by shared::cta address
  Bytes shared;                                     ///< from kSharedBase
  std::unique_ptr<Shadow> shadow;
  std::vector<UnknownAccess> unknown;               ///< of shared memory, beside the shadow
  std::unique_ptr<Shadow> tensor_shadow;            ///< of tensor memory, from kTensorBase
  struct TensorColumns { std::uint32_t columns = 0; EventId event = 0; };
  std::map<std::uint64_t, TensorColumns> tensor_columns;  ///< allocated, by their first
  EventId tensor_relinquished = 0;
  bool has_allocated_columns = false;               ///< ever
  Clock exit_clock;                                 ///< what its exited threads knew
  /// The latest use by each thread, and by each barrier that completes copies.
  std::map<std::pair<ActorId, bool>, MemoryUse> uses;
};

/// The CTAs that run together; a cluster of one where the launch asks for none.
struct Cluster {
  std::vector<Warp> warps;                          ///< of all CTAs, CTA after CTA
  std::vector<Cta> ctas;                            ///< by rank
  ClusterBarrier barrier;
  std::map<std::uint64_t, Flag> flags;              ///< words of shared memory that strong writes went to
  PagedShadow global_shadow;

  Cta& ctaOf(const Warp& warp) { return ctas[warp.cta]; }
  const Cta& ctaOf(const Warp& warp) const { return ctas[warp.cta]; }
  /// Components of clocks behind those of the threads: completed generations of the barriers of each CTA and of the
  /// cluster, then the mbarriers.
  ActorId generationActor(const Cta& cta, unsigned id) const {
    return static_cast<ActorId>(warps.size() * kWarpSize + cta.rank * kBarriersPerCta + id);
  }
  ActorId clusterActor() const { return static_cast<ActorId>(warps.size() * kWarpSize + ctas.size() * kBarriersPerCta); }
  ActorId firstBarrierActor() const { return clusterActor() + 1; }
  /// The four warps of the CTA, fewer at its end, that multiply together (PTX ISA, "wgmma": warpgroup).
  std::span<const Warp> warpgroupOf(const Warp& warp) const {
    const std::size_t first = warp.rank - warp.rank % kWarpsPerWarpgroup;
    const std::size_t count = std::min<std::size_t>(kWarpsPerWarpgroup, ctaOf(warp).warp_count - first);
    return {&warps[ctaOf(warp).first_warp + first], count};
  }
  /// The CTA that a shared address names, seen from a warp; null when the cluster has none of that rank.
  Cta* ctaAt(const Warp& warp, std::uint64_t address) {
    const std::uint64_t window = address >> kClusterShift;
    if (window == 0) return &ctaOf(warp);
    return window <= ctas.size() ? &ctas[window - 1] : nullptr;
  }
};

}  // namespace handoff::machine
