// SPDX-License-Identifier: Apache-2.0
// The interpreter: a scheduler over warps and one transfer function per effect (transfer/*.cpp).
#pragma once

#include <chrono>
#include <set>
#include <tuple>
#include <unordered_map>

#include "analyzer/machine/address.h"
#include "analyzer/machine/launch.h"
#include "analyzer/machine/outcome.h"
#include "analyzer/machine/state.h"
#include "analyzer/machine/used_reads.h"

namespace handoff::machine {

/// A warp's contiguous access: lanes that touch the same bytes of shared memory.
struct Range {
  std::uint64_t address = 0;  ///< within the space
  std::uint32_t bytes = 0;
  LaneMask lanes = 0;
};

/// Loads to follow during a run, and what became of their values, by group.
struct ReadWatch {
  std::vector<ReadInstance> reads;
  std::vector<unsigned> bits;  ///< of each read
  std::uint64_t seen = 0, used = 0;
  bool is_complete = false;  ///< the run came to its end
};

class Executor {
 public:
  /// Global buffers that the kernel both stores to and copies from; only those need a shadow.
  using Buffers = std::set<std::uint64_t>;
  struct Setup {
    Buffers tracked;
    unsigned granule = 16;  ///< bytes of a shadow cell
  };
  Executor(const Program& program, const Launch& launch, const RunOptions& options, Setup setup);

  Outcome run();
  void watch(ReadWatch* watch) { watch_ = watch; }
  /// After a run: the granule that its accesses would have needed, if smaller than the one it had (it stopped then).
  unsigned neededGranule() const { return needed_granule_; }
  /// After a run: buffers that it stored to and copied from.
  Buffers sharedBuffers() const;

  // One overload per ptx::Effect; each leaves the fragment at the next instruction, or waiting.
  struct Step {
    Warp& warp;
    std::size_t fragment;   ///< index; fragments move when lanes split
    const Op& op;
    OpIndex index;
    LaneMask lanes;         ///< whose guard holds
  };

  void operator()(const ptx::Unmodelled&, const Step& step);
  void operator()(const ptx::Alu& effect, const Step& step);
  void operator()(const ptx::Opaque&, const Step& step);
  void operator()(const ptx::Hint&, const Step&) {}
  void operator()(const ptx::Branch&, const Step& step);
  void operator()(const ptx::BranchIndexed&, const Step& step);
  void operator()(const ptx::Call&, const Step& step);
  void operator()(const ptx::Return&, const Step& step);
  void operator()(const ptx::Exit&, const Step& step);
  void operator()(const ptx::Trap&, const Step& step);
  void operator()(const ptx::Load&, const Step& step);
  void operator()(const ptx::Store&, const Step& step);
  void operator()(const ptx::Atomic& effect, const Step& step);
  void operator()(const ptx::LdMatrix&, const Step& step);
  void operator()(const ptx::StMatrix&, const Step& step);
  void operator()(const ptx::WmmaLoad&, const Step& step);
  void operator()(const ptx::WmmaStore&, const Step& step);
  void operator()(const ptx::Collective& effect, const Step& step);
  void operator()(const ptx::CtaBarrier& effect, const Step& step);
  void operator()(const ptx::WarpBarrier&, const Step& step);
  void operator()(const ptx::Fence& effect, const Step& step);
  void operator()(const ptx::CpAsync&, const Step& step);
  void operator()(const ptx::CpAsyncCommit&, const Step& step);
  void operator()(const ptx::CpAsyncWaitGroup&, const Step& step);
  void operator()(const ptx::CpAsyncWaitAll&, const Step& step);
  void operator()(const ptx::CpAsyncMbarrierArrive& effect, const Step& step);
  void operator()(const ptx::Mbarrier& effect, const Step& step);
  void operator()(const ptx::SetMaxNReg&, const Step&) {}
  // Parsed and recognised, not yet executed: each becomes a limit that names the instruction.
  void operator()(const ptx::StoreBulk&, const Step& step) { notModelled(step); }
  void operator()(const ptx::ClusterBarrier&, const Step& step) { notModelled(step); }
  void operator()(const ptx::BulkCopy&, const Step& step) { notModelled(step); }
  void operator()(const ptx::TensorCopy&, const Step& step) { notModelled(step); }
  void operator()(const ptx::BulkPrefetch&, const Step&) {}
  void operator()(const ptx::BulkCommit&, const Step& step) { notModelled(step); }
  void operator()(const ptx::BulkWait&, const Step& step) { notModelled(step); }
  void operator()(const ptx::AsyncStore&, const Step& step) { notModelled(step); }
  void operator()(const ptx::TensormapEdit&, const Step& step) { notModelled(step); }
  void operator()(const ptx::Wgmma&, const Step& step) { notModelled(step); }
  void operator()(const ptx::Tcgen05&, const Step& step) { notModelled(step); }
  void operator()(const ptx::GridDepControl&, const Step& step) { notModelled(step); }
  void operator()(const ptx::ClusterLaunchControl&, const Step& step) { notModelled(step); }

 private:
  // --- scheduling (executor.cpp) ---
  void initWarps();
  void setSpecials(Warp& warp);
  bool runWarp(Warp& warp);
  static void resumeDeferred(Warp& warp);
  void runFragment(Warp& warp, std::size_t& fragment, std::uint64_t& quantum);
  void execute(Warp& warp, std::size_t fragment);
  LaneMask guardedLanes(Warp& warp, std::size_t fragment, const Op& op, OpIndex index);
  bool arriveAtJoin(Warp& warp, std::size_t fragment);
  void mergeJoin(Warp& warp, int join);
  void exitLanes(Warp& warp, std::size_t fragment, LaneMask lanes);
  bool letPollsFail();
  bool breakJoins();
  void reportStuck();
  void reportLeaks();
  Stuck stuckAt(const Warp& warp, const Fragment& fragment) const;
  bool isOverBudget();
  void progress() { ++progress_; }

  // --- control (transfer/control.cpp) ---
  void branchTo(Warp& warp, std::size_t fragment, OpIndex target);
  void split(const Step& step, LaneMask taken, OpIndex target);
  LaneMask decideUnknown(const Step& step, LaneMask unknown);
  bool skipSilentRegion(const Step& step, LaneMask unknown);
  struct SilentRegion { bool is_silent = false; std::vector<Slot> written; };
  const SilentRegion& silentRegion(OpIndex branch);
  void notModelled(const Step& step);
  void forgetDestinations(const Step& step);

  // --- operands ---
  const Lanes& value(const Warp& warp, Slot slot) const {
    if (slot == kNoSlot) return unknown_lanes_;
    return slot & kConstantBit ? program_.constants[slot & ~kConstantBit] : warp.registers[slot];
  }
  const Arg& arg(const Op& op, unsigned i) const { return program_.args[op.first_arg + i]; }
  void assign(Warp& warp, const Arg& destination, const Lanes& lanes, LaneMask mask);
  void assignUnknown(Warp& warp, const Arg& destination, LaneMask mask);
  /// Address words of an address operand (base + offset), in the space of the base.
  Lanes addressWords(const Warp& warp, const Arg& operand) const;
  unsigned addressOperand(const Op& op, unsigned from = 0) const;
  std::optional<std::uint64_t> uniformValue(const Warp& warp, const Arg& operand, LaneMask lanes) const;

  // --- memory (transfer/memory.cpp) ---
  struct Resolved { ptx::Space space = ptx::Space::kGlobal; Lanes address; LaneMask lanes = 0; };
  /// Splits an access by the space its lanes' addresses lie in (generic addresses may differ by lane).
  std::vector<Resolved> resolve(const Step& step, const Arg& operand, ptx::Space space);
  void loadPrivate(const Step& step, const Resolved& part, unsigned element_bytes);
  void storePrivate(const Step& step, const Resolved& part, unsigned element_bytes);
  void loadShared(const Step& step, const Resolved& part, unsigned element_bytes);
  void storeShared(const Step& step, const Resolved& part, unsigned element_bytes);
  void storeGlobal(const Step& step, const Resolved& part, unsigned bytes);
  void atomicShared(const Step& step, const Resolved& part, unsigned bytes);
  void matrixAccess(const Step& step, bool is_store);
  void wmmaAccess(const Step& step, bool is_store);
  Bytes* privateBytes(Warp& warp, unsigned lane, ptx::Space space, std::uint64_t& address);
  bool checkSharedRange(const Step& step, std::uint64_t address, std::uint64_t bytes, LaneMask lanes);
  std::vector<const Arg*> elements(const Arg& operand) const;
  void acquireFlag(Warp& warp, LaneMask lanes, std::uint64_t key, ptx::Sem sem);
  void releaseFlag(Warp& warp, LaneMask lanes, std::uint64_t key, ptx::Sem sem, bool is_rmw);

  // --- races (races.cpp) ---
  EventId log(const Step& step, EventKind kind, LaneMask lanes, std::uint32_t value = 0, bool is_strong = false);
  void readShared(const Range& range, EventId event);
  void writeShared(const Range& range, EventId event);
  void limitUnknownSources();
  bool isTrackedSource(std::uint64_t address, bool is_copy);
  void readGlobal(const Range& range, EventId event);
  void writeGlobal(const Range& range, EventId event);
  void readCell(Cell& cell, EventId event, LaneMask lanes, std::uint64_t address, ptx::Space space);
  void writeCell(Cell& cell, EventId event, unsigned lane, std::uint64_t address, ptx::Space space);
  bool isOrdered(EventId first, unsigned first_lane, const Warp& observer, unsigned lane) const;
  bool isStartOrdered(EventId first, unsigned first_lane, const Warp& observer, unsigned lane) const;
  bool isCompletionKnown(EventId copy, unsigned copy_lane, const Warp& observer, unsigned lane) const;
  void checkAgainstReaders(const Cell& cell, EventId event, unsigned lane, std::uint64_t address, ptx::Space space);
  void report(Access first, Access second, const Cell& cell, std::uint64_t address, ptx::Space space,
              bool reader_is_first);
  void notePrevious(const Cell& cell, Access reader, bool reader_is_first, Conflict& conflict) const;
  void noteCopy(Conflict& conflict) const;
  void noteOrderedRead(WriteId write, EventId read, LaneMask lanes);
  void judgeLaterReads();
  void noteStrongRace(EventId read);

  // --- synchronisation (transfer/barrier.cpp, copy.cpp, mbarrier.cpp) ---
  /// Index of a fragment that holds exactly the step's lanes; the others go on, and wait at the next instruction.
  std::size_t isolate(const Step& step);
  bool deferred(const Step& step);
  void completeBarriers();
  void completeBarrier(unsigned id);
  void releaseWarpBarrier(Warp& warp);
  void copyLane(const Step& step, EventId event, unsigned lane, std::uint64_t destination, std::uint32_t size);
  std::uint64_t contentKey(unsigned lane, const Lanes& sources, const Lanes& destinations, const Lanes* source_sizes,
                           LaneMask ignored) const;
  void copyToShared(const Step& step, std::uint32_t size, LaneMask lanes, const Lanes& destinations,
                    const Lanes& sources, const Lanes* source_sizes, LaneMask ignored);
  MbarrierObject* mbarrierAt(const Step& step, std::uint64_t address, LaneMask lanes);
  /// Components of clocks behind those of the threads: completed generations of the CTA barriers, then mbarriers.
  ActorId generationActor(unsigned id) const { return static_cast<ActorId>(cta_.warps.size() * kWarpSize + id); }
  ActorId firstBarrierActor() const { return generationActor(kBarriersPerCta); }
  template <typename F> void forEachMbarrier(const Step& step, F&& f);
  void initMbarrier(const Step& step, std::uint64_t address, LaneMask lanes);
  void arriveMbarrier(const Step& step, const ptx::Mbarrier& effect, std::uint64_t address, LaneMask lanes);
  void waitMbarrier(const Step& step, const ptx::Mbarrier& effect, std::uint64_t address, LaneMask lanes);
  void checkPhaseKnown(const Step& step, const MbarrierObject& object, LaneMask lanes, Phase completed, EventId event,
                       Misuse::Kind kind);
  bool arriveLanes(const Step& step, MbarrierObject& object, LaneMask lanes, std::uint32_t count, EventId event);
  void wakePollers();
  static std::uint64_t sharedOffset(std::uint64_t address) { return address - kSharedBase; }

  // --- used_reads.cpp ---
  std::uint64_t watchedIn(const Warp& warp, const Arg& arg) const;
  void setWatched(Warp& warp, const Arg& arg, std::uint64_t bits, bool keeps_old);
  void watchStep(Warp& warp, const Op& op, LaneMask lanes);
  void watchLoad(Warp& warp, const Op& op, OpIndex index);

  void addMisuse(const Step& step, Misuse misuse);
  void addLimit(std::string reason, std::uint32_t instr);

  const Program& program_;
  const Launch& launch_;
  const RunOptions& options_;
  Outcome outcome_;
  ReadSets read_sets_;
  ReadWatch* watch_ = nullptr;
  struct { EventId event = 0; LaneMask lanes = 0; WriteId write = 0; } asked_;
  Cta cta_;
  Lanes unknown_lanes_;
  const Setup setup_;
  unsigned needed_granule_;
  Buffers stored_buffers_, copied_buffers_;
  std::uint64_t progress_ = 0;
  ActorId next_actor_ = 0;
  bool is_stopped_ = false;
  std::chrono::steady_clock::time_point deadline_;
  std::vector<SilentRegion> silent_regions_;
  std::vector<std::uint8_t> silent_known_;
  /// By the sites of both accesses: index into Outcome::conflicts.
  static constexpr std::size_t kMaxReads = 1024;
  std::map<std::tuple<std::uint32_t, std::uint32_t, int>, std::size_t> reported_;
  /// By the write of a read-write conflict: the conflict, for the reader's later reads of what was written.
  std::unordered_map<WriteId, std::size_t> followed_;
  std::set<std::tuple<std::uint32_t, int>> misused_;  ///< by site
  std::set<std::pair<std::string, std::uint32_t>> limited_;
  std::set<OpIndex> out_of_range_;
  std::set<std::tuple<std::uint16_t, OpIndex, std::uint64_t, Phase>> failed_polls_;  ///< RunOptions::fail_first_polls
  bool has_unknown_store_ = false, has_unknown_source_ = false;
};

}  // namespace handoff::machine
