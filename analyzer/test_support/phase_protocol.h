// SPDX-License-Identifier: Apache-2.0
// Tiny protocols of mbarriers and bulk copies, for the phase oracle: as data, as text, as PTX, and drawn at
// random.
//
// Two or three threads, each alone in its warp or all in one, run a straight list of events over two
// mbarriers and two slots of 16 bytes. The barriers are initialised, and the block (or the cluster) has
// synchronised, before the first event.
//
// With `is_cluster` the first thread runs in CTA 0 and the others in CTA 1, barrier and slot 0 lie in CTA 0,
// barrier and slot 1 in CTA 1.
#pragma once

#include <array>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace handoff::test {

struct PhaseEvent {
  enum class Kind : std::uint8_t {
    kArrive,
    kArriveExpect,
    kExpect,
    kWait,       ///< by parity, until it is true
    kCopy,       ///< bulk copy from global memory into a slot, completing on a barrier
    kBulkStore,  ///< bulk copy of a slot to global memory
    kCommit,
    kWaitGroup,
    kWaitRead,
    kLoad,
    kStore,
    kFence,  ///< fence.proxy.async
    kSync,   ///< of the block, or of the cluster
  } kind = Kind::kSync;
  unsigned barrier = 0;   ///< of arrivals, expects, waits and copies
  unsigned slot = 0;      ///< of copies and accesses
  unsigned argument = 0;  ///< bytes of an expect, parity of a wait, N of a wait for groups
  bool is_wide = false;   ///< arrivals and waits: scope of the cluster

  friend bool operator==(const PhaseEvent&, const PhaseEvent&) = default;
};

inline constexpr unsigned kPhaseBarriers = 2, kPhaseSlots = 2, kPhaseSlotBytes = 16;
inline constexpr unsigned kMaxPhaseThreads = 3, kMaxPhaseEvents = 8;  ///< events of one thread

struct PhaseProtocol {
  std::array<unsigned, kPhaseBarriers> counts{1, 1};  ///< of mbarrier.init
  std::vector<std::vector<PhaseEvent>> threads;
  bool is_cluster = false;
  bool is_one_warp = false;  ///< the threads are lanes of one warp, on ways of their own

  unsigned ctaOf(unsigned thread) const { return is_cluster && thread != 0 ? 1 : 0; }
  /// Of a barrier or a slot.
  unsigned homeOf(unsigned object) const { return is_cluster ? object : 0; }
};

bool isAccess(PhaseEvent::Kind kind);
bool isBulk(PhaseEvent::Kind kind);
bool usesBarrier(PhaseEvent::Kind kind);

/// All threads meet as many barriers, so that none waits for a thread that has left; no thread waits on
/// another CTA's mbarrier; copies complete on one beside their slot. The rest is undefined for reasons that
/// are not about phases.
bool isLegal(const PhaseProtocol& protocol);

/// A plausible protocol (a ring, a pipeline, a hand-over) with up to three mutations.
PhaseProtocol randomPhaseProtocol(std::mt19937& random);

/// A thread a line, for the message of a failed test.
std::string toText(const PhaseProtocol& protocol);
/// Statements for test::run (or runModule) with a warp for each thread of a CTA.
std::string toPtx(const PhaseProtocol& protocol);
/// Warps of a CTA that toPtx asks for.
unsigned warpsOf(const PhaseProtocol& protocol);

}  // namespace handoff::test
