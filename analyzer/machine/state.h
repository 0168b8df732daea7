// SPDX-License-Identifier: Apache-2.0
// The state of a run: warps with their lanes, fragments and joins; the CTA's memory and barriers.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "analyzer/machine/clock.h"
#include "analyzer/machine/copy_groups.h"
#include "analyzer/machine/cta_barrier.h"
#include "analyzer/machine/mbarrier.h"
#include "analyzer/machine/program.h"
#include "analyzer/machine/shadow.h"

namespace handoff::machine {

/// Lanes of a warp that execute together. A divergent branch splits a fragment; the parts meet again at the branch's
/// immediate post-dominator, and each can run while the other waits (independent thread scheduling).
struct Fragment {
  enum class State : std::uint8_t {
    kReady,
    kDeferred,  ///< lets the other fragments of its warp run first: they may exit or catch up
    kAtCtaBarrier, kAtWarpBarrier, kPolling,
  };
  OpIndex pc = 0;
  LaneMask lanes = 0;
  int join = -1;             ///< index into Warp::joins
  State state = State::kReady;
  std::uint32_t barrier = 0;       ///< kAtCtaBarrier: id; kAtWarpBarrier: lane mask
  std::uint64_t object = 0;        ///< kPolling: address of the mbarrier
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
  Warp(std::uint16_t index, LaneMask live_lanes) : id(index), live(live_lanes), clock(index * kWarpSize) {}

  std::uint16_t id;
  LaneMask live;                     ///< lanes that exist and have not exited
  WarpClock clock;
  CopyGroups copies;
  std::vector<Lanes> registers;
  std::vector<Fragment> fragments;
  std::vector<Join> joins;
  std::vector<std::uint32_t> passes; ///< by op
  std::vector<Bytes> local;          ///< by lane
  /// Fence-based synchronisation: what a release fence published, and what relaxed loads would acquire.
  /// By lane.
  std::array<std::shared_ptr<Clock>, kWarpSize> released_by_fence, to_acquire;
  std::vector<std::uint64_t> watched;  ///< by register: the watched loads whose value it may hold (used_reads.h)
  bool has_polled_flag = false;      ///< read a strong location since the last progress anywhere
};

struct Cta {
  std::vector<Warp> warps;
  std::vector<LaneMask> live;                       ///< by warp, mirrors Warp::live
  std::array<CtaBarrier, kBarriersPerCta> barriers;
  std::map<std::uint64_t, MbarrierObject> mbarriers;  ///< by shared address
  std::map<std::uint64_t, Clock> flags;             ///< release clocks of shared and global synchronisation words
  Bytes shared;                                     ///< from kSharedBase
  std::unique_ptr<Shadow> shadow;
  PagedShadow global_shadow;
};

}  // namespace handoff::machine
