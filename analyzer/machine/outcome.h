// SPDX-License-Identifier: Apache-2.0
// What a run found, in the machine's own terms. diagnose/ turns it into findings.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "analyzer/machine/copy_groups.h"
#include "analyzer/machine/event.h"
#include "analyzer/machine/launch.h"
#include "analyzer/machine/program.h"
#include "analyzer/machine/unknown_access.h"
#include "analyzer/ptx/types.h"

namespace handoff::machine {

/// Two accesses to the same bytes, at least one a write, that nothing orders; with the facts at that moment that tell
/// why. `second` is the one the machine met later.
struct Conflict {
  Access first, second;
  ptx::Space space = ptx::Space::kShared;
  std::uint64_t address = 0;
  std::vector<EventId> later_reads;  ///< the reader's first ordered reads of what was written
  std::vector<EventId> reads;    ///< every execution of the reading statement that conflicts so, oldest first
  bool has_more = false;         ///< `reads` is incomplete
  std::vector<Conflict> others;  ///< the same with the first such read of each of a few other warps
  bool first_reads = false, second_reads = false;  ///< at most one of them
  bool is_source = false;        ///< the copy's access is the read of its global source
  /// The accesses are ordered, but of different proxies, and no proxy fence stands between them.
  bool is_unfenced = false;
  std::uint32_t cta = 0;         ///< rank of the CTA whose shared memory it is
  bool same_thread = false;
  bool start_ordered = false;    ///< the start of `first` (the issue of a copy) is ordered before `second`
  /// When `first` is a copy:
  bool is_committed = false, is_retired = false;
  std::optional<CopyGroups::Wait> wait;  ///< the issuer's last wait between the copy and `second`
  std::uint32_t group = 0;
  /// Contents before the write of the pair: the reader was ordered after them, so they may be what it wanted.
  bool has_previous_tile = false;
  bool reader_saw_previous = false;  ///< the same statement of the reader had read those contents before
  bool reader_used_previous = false; ///< some statement of the reader had
  bool reader_got_new = false;       ///< later the reader met the new contents, in order: it had wanted the old ones
  /// When `first` is a copy: an mbarrier phase tracks it, but not one that the reader has waited for.
  bool is_tracked = false;
  bool has_cta_barrier = false;      ///< the issuer passed a CTA barrier between the copy and `second`
  /// One of them goes by data that is not known: they meet with these values, and need not with others.
  bool is_possible = false;
  std::vector<DataValue> data;

  EventId reader() const { return first_reads ? first.event : second_reads ? second.event : 0; }
};

/// A single operation that breaks a rule by itself.
struct Misuse {
  enum class Kind : std::uint8_t {
    kMisalignedDestination, kMisalignedSource, kMisalignedSharedSource, kMisalignedGlobalDestination, kBadCopySize,
    kBadBulkSize, kOutOfRange, kDivergentBarrier, kBarrierCountMismatch, kBadBarrierCount, kAmbiguousGeneration,
    kUninitializedBarrier, kBarrierInitUnordered, kReinitialized, kOverArrival, kEarlyArrival, kEarlyWait, kLeakedAtExit, kDuplicateDestination,
    // Transactions: bytes announced and delivered differ; announced after the last arrival; out of the counter's range.
    kByteMismatch, kLateExpect, kByteRange,
    kLappedWait,              // the phase after the next may complete before the wait has been asked
    kRemoteBarrierOp,         // an operation that only the barrier's own CTA may execute
    kCompletingNoComplete,    // .noComplete that completes the phase
    kEmptyExpectedCount,      // arrive_drop leaves nobody to arrive
    kWrongSpace,              // destination or barrier in a CTA that the form of the copy does not allow
    kNoSuchPeer,              // a CTA rank that the cluster does not have
    kPeerNotStarted, kPeerMayHaveExited,
    kUndrainedAtExit,         // a bulk store may still read shared memory when the block exits
    kUndrainedAtSignal,       // a flag is released while a bulk store's writes may be on their way
    kSplitWarpgroup, kWarpgroupMismatch,
    kTensormapUnfenced, kTensormapInUse,
    kDoubleClusterArrive,
    kBarrierOverwritten,      // an ordinary access or a copy meets a live mbarrier object
    kTensorMemoryLeak, kTensorMemoryAfterRelinquish,
    kTensorMemoryUnallocated, // columns that no allocation, or none of that size, gave
    kMisalignedBarrier,       // an mbarrier at an address that is no multiple of 8
    kBadArrivalCount,         // mbarrier.init with a count out of range
    kBarrierInUse,            // an mbarrier ends or begins anew while another thread may still use it
    kOutsideMask,             // bar.warp.sync by a lane that its mask leaves out
    kSplitRegisters,          // setmaxnreg by some warps of a warpgroup only
  };
  Kind kind{};
  EventId event = 0;       ///< the event, when there is one
  OpIndex op = 0;
  std::uint16_t warp = 0;
  LaneMask lanes = 0;
  std::uint64_t address = 0;
  std::uint64_t value = 0, wanted = 0;  ///< meaning by kind: alignment, size, counts
  EventId other = 0;       ///< the event it disagrees with
  EventId at = 0;          ///< the last event before it was met
  bool is_possible = false;  ///< as Conflict::is_possible
  bool is_unmet = false;     ///< kEarlyWait: of a wait that was not met
  std::vector<DataValue> data{};
};

/// A thread that never goes on, and why.
struct Stuck {
  enum class Kind : std::uint8_t { kCtaBarrier, kWarpBarrier, kMbarrier, kFlag, kClusterBarrier, kMmaWait, kRegisterPool };
  Kind kind{};
  std::uint16_t warp = 0;
  LaneMask lanes = 0;
  OpIndex op = 0;
  std::uint32_t id = 0;              ///< barrier id, or the open phase of an mbarrier
  /// mbarrier: phases that the thread has seen complete; two less than `id` or more: it was overtaken.
  std::uint32_t seen = 0;
  bool is_first_phase = false;       ///< mbarrier: nothing has arrived since its initialisation
  std::uint64_t address = 0;         ///< mbarrier or flag
  std::uint64_t expected = 0, arrived = 0;  ///< threads, or arrivals of the open phase
  std::int64_t transactions = 0;
  EventId init = 0;                  ///< of the mbarrier
  std::vector<EventId> arrivals;     ///< that did come
  LaneMask missing_lanes = 0;        ///< warp barrier: lanes of the mask that did not come
};

struct RunLimit {
  std::string reason;
  std::uint32_t instr = 0;
  friend bool operator==(const RunLimit&, const RunLimit&) = default;
};

struct Outcome {
  std::vector<Conflict> conflicts;
  std::vector<Misuse> misuses;
  std::vector<Stuck> stuck;         ///< non-empty: the run ended in a hang
  std::vector<RunLimit> limits;
  std::uint64_t skipped_turns = 0;   ///< of loops, in all (skip_turns.h)
  /// An instruction was met that could not be executed. It may order what the run then takes for unordered.
  bool has_unmodelled = false;
  /// Events from here on came after such an instruction, or after a decision on data that is not known; 0: none did.
  EventId unmodelled_from = 0, assumed_from = 0;
  bool assumed_by_thread = false;   ///< such a decision may differ by thread
  bool tracks_global = false;       ///< order in global memory was checked, for the addresses of this run
  bool has_moving_distances = false;  ///< ... which other inputs place otherwise, one against the other
  bool has_repeated_copies = false; ///< copies without order between them that wrote the same bytes alike
  bool has_left_memory = false;     ///< an access reached shared memory that the launch does not give
  bool was_stopped = false;         ///< the run used up its budget
  bool has_trapped = false;         ///< a thread met a trap or a failed assertion: the kernel ends there
  std::uint64_t steps = 0;          ///< executed warp instructions
  /// Bytes of a box, by the generic address of a tensor map that the launch does not describe.
  std::map<std::uint64_t, std::uint64_t> assumed_boxes;
  std::uint32_t exited_threads = 0; ///< threads that had left when the run hung
  /// Words in global memory that were inputs of the run, by address.
  std::map<std::uint64_t, Word> words;
  /// Loads on whose data alone something depends that had to be assumed or left out, each time together.
  std::set<Instructions> wanted_words;
  EventLog log;
};

}  // namespace handoff::machine
