// SPDX-License-Identifier: Apache-2.0
// The interpreter: a scheduler over warps and one transfer function per effect (transfer/*.cpp).
#pragma once

#include <set>
#include <tuple>

#include "analyzer/machine/core.h"
#include "analyzer/machine/matrix_operand.h"
#include "analyzer/machine/races.h"
#include "analyzer/machine/regions.h"
#include "analyzer/machine/skip_turns.h"
#include "analyzer/machine/tensor_boxes.h"
#include "analyzer/machine/unknown_choices.h"
#include "analyzer/machine/used_reads.h"
#include "analyzer/support/thread_clock.h"

namespace handoff::machine {

class Executor : private Core {
 public:
  using Core::Step;
  struct Setup {
    Buffers tracked;         ///< global buffers that need a shadow
    unsigned granule = 16;   ///< bytes of a shadow cell
    TensorBoxes boxes;       ///< of tensor maps that the launch does not describe
    friend bool operator==(const Setup&, const Setup&) = default;
  };
  Executor(const Program& program, const Launch& launch, const RunOptions& options, Setup setup);
  Outcome run();
  void watch(ReadWatch* watch) { watch_ = watch; }
  /// After a run: what it should be run again with; equal to the setup it had when that was right.
  Setup neededSetup() const;

  // One overload per effect; each leaves the fragment at the next instruction, or waiting.
  void operator()(const ptx::Unmodelled&, const Step& step), operator()(const ptx::Alu& effect, const Step& step);
  void operator()(const ptx::Opaque&, const Step& step);
  void operator()(const ptx::Hint&, const Step&) {}
  void operator()(const ptx::Branch&, const Step& step), operator()(const ptx::BranchIndexed&, const Step& step);
  void operator()(const ptx::Call&, const Step& step), operator()(const ptx::Return&, const Step& step);
  void operator()(const ptx::Exit&, const Step& step), operator()(const ptx::Trap&, const Step& step);
  void operator()(const ptx::Load&, const Step& step), operator()(const ptx::Store&, const Step& step);
  void operator()(const ptx::Atomic& effect, const Step& step), operator()(const ptx::LdMatrix&, const Step& step);
  void operator()(const ptx::StMatrix&, const Step& step), operator()(const ptx::WmmaLoad&, const Step& step);
  void operator()(const ptx::WmmaStore&, const Step& step), operator()(const ptx::Collective& effect, const Step& step);
  void operator()(const ptx::CtaBarrier& effect, const Step& step), operator()(const ptx::WarpBarrier&, const Step& step);
  void operator()(const ptx::Fence& effect, const Step& step), operator()(const ptx::CpAsync&, const Step& step);
  void operator()(const ptx::CpAsyncCommit&, const Step& step), operator()(const ptx::CpAsyncWaitGroup&, const Step& step);
  void operator()(const ptx::CpAsyncWaitAll&, const Step& step);
  void operator()(const ptx::CpAsyncMbarrierArrive& effect, const Step& step);
  void operator()(const ptx::Mbarrier& effect, const Step& step), operator()(const ptx::SetMaxNReg&, const Step& step);
  void operator()(const ptx::StoreBulk&, const Step& step), operator()(const ptx::ClusterBarrier& effect, const Step& step);
  void operator()(const ptx::BulkCopy& effect, const Step& step), operator()(const ptx::TensorCopy& effect, const Step& step);
  void operator()(const ptx::BulkPrefetch&, const Step&) {}
  void operator()(const ptx::BulkCommit&, const Step& step), operator()(const ptx::BulkWait& effect, const Step& step);
  void operator()(const ptx::AsyncStore& effect, const Step& step), operator()(const ptx::TensormapEdit&, const Step& step);
  void operator()(const ptx::Wgmma& effect, const Step& step), operator()(const ptx::Tcgen05& effect, const Step& step);
  void operator()(const ptx::GridDepControl&, const Step&) {}  // orders whole grids, nothing inside of one
  void operator()(const ptx::ClusterLaunchControl& effect, const Step& step);

 private:
  // --- scheduling (executor.cpp) ---
  void initWarps(), setSpecials(Warp& warp);
  bool runWarp(Warp& warp);
  static void resumeDeferred(Warp& warp);
  void runFragment(Warp& warp, std::size_t& fragment, std::uint64_t& quantum), execute(Warp& warp, std::size_t fragment);
  LaneMask guardedLanes(Warp& warp, std::size_t fragment, const Op& op, OpIndex index);
  bool arriveAtJoin(Warp& warp, std::size_t fragment);
  void mergeJoin(Warp& warp, int join), exitLanes(Warp& warp, std::size_t fragment, LaneMask lanes);
  bool letPollsFail();
  bool breakJoins();
  void reportStuck(), reportLeaks();
  Stuck stuckAt(const Warp& warp, const Fragment& fragment) const;
  bool isOverBudget(bool is_slow = false);  ///< after a step that may take long, the time is looked at, too
  std::vector<PathLog::Register> liveRegisters() const;
  void addRegisters(Boundary& boundary, const std::vector<PathLog::Register>& live, bool keeps_words);
  StateHash presentState();
  void meetBoundary();
  std::uint64_t dataShape(Warp& warp, Slot slot, ShapeHasher& shapes);
  void applyClosure(const Closure& closure, const Boundary& boundary, const std::vector<PathLog::Register>& live);
  void progress() { ++progress_; }

  // --- control (transfer/control.cpp) ---
  void branchTo(Warp& warp, std::size_t fragment, OpIndex target), split(const Step& step, LaneMask taken, OpIndex target);
  LaneMask decideUnknown(const Step& step, LaneMask unknown);
  bool skipRegion(const Step& step, LaneMask unknown);
  void assignRank(const Step& step), computeUnderGuard(const Step& step, const ptx::Alu& effect, LaneMask active);

  // --- unknown data (transfer/unknown.cpp) ---
  LaneMask accessUnknown(const Step& step, const Arg& operand, std::uint32_t bytes, bool reads, bool writes);
  void keepInside(const Step& step, const UnknownAccess& access, unsigned lane, std::uint64_t first, std::uint64_t last);
  void overwriteUnknown(const Step& step, Cta& cta, const UnknownAccess& access);
  bool executeUnderUnknown(const Step& step);
  bool runPlainRegion(const Step& step);
  void runSide(Warp& warp, OpIndex start, OpIndex end, OpIndex loop, LaneMask lanes);

  // --- memory (transfer/memory.cpp) ---
  /// Splits an access by the space its lanes' addresses lie in (generic addresses may differ by lane).
  std::vector<Resolved> resolve(const Step& step, const Arg& operand, ptx::Space space);
  bool loadInput(const Step& step);
  std::optional<InputWord> inputWord(const Step& step, std::uint64_t address, symbolic::TermId term, std::uint32_t bytes);
  void noteDistance(const Step& step, const Arg& operand, LaneMask lanes);
  void noteUnknownGlobal(const Step& step, const Arg& operand, bool is_copy_source) {
    races_.noteUnknownGlobal(is_copy_source, loadsBehind(step, operand.slot));
  }
  void loadPrivate(const Step& step, const Resolved& part, unsigned element_bytes);
  void storePrivate(const Step& step, const Resolved& part, unsigned element_bytes);
  void loadShared(const Step& step, const Resolved& part, unsigned element_bytes);
  void storeShared(const Step& step, const Resolved& part, unsigned element_bytes);
  void storeGlobal(const Step& step, const Resolved& part, unsigned bytes);
  void loadGlobal(const Step& step, const Resolved& part, unsigned bytes);
  void checkBarrierBytes(const Step& step, Cta& cta, std::uint64_t address, std::uint64_t bytes, LaneMask lanes);
  void checkSignal(const Step& step, EventId event, LaneMask lanes);
  void atomicShared(const Step& step, const Resolved& part, unsigned bytes);
  void matrixAccess(const Step& step, bool is_store), wmmaAccess(const Step& step, bool is_store);
  Bytes* privateBytes(Warp& warp, unsigned lane, ptx::Space space, std::uint64_t& address);
  /// The CTA whose shared memory holds all of these bytes; null, and a limit or a misuse, when none does.
  Cta* checkSharedRange(const Step& step, std::uint64_t address, std::uint64_t bytes, LaneMask lanes);
  void acquireFlag(const Step& step, unsigned lane, const Cta& cta, std::uint64_t address);
  void releaseFlag(const Step& step, unsigned lane, const Cta& cta, std::uint64_t address, bool is_rmw);

  // --- barriers, cp.async (transfer/barrier.cpp, cluster.cpp, copy.cpp) ---
  /// Index of a fragment that holds exactly the step's lanes; the others go on, and wait at the next instruction.
  std::size_t isolate(const Step& step);
  bool gather(const Step& step);
  bool deferred(const Step& step);
  void reduceAt(const Step& step, CtaBarrier& barrier);
  void assignReduction(Warp& warp, const Fragment& fragment, const CtaBarrier::Reduction& reduction);
  void completeBarriers(Cta& cta), completeBarrier(Cta& cta, unsigned id), completeClusterBarrier();
  void releaseWarpBarrier(Warp& warp), fenceThread(const Step& step);
  void noteCopyTerms(const Step& step, EventId event, const Lanes* sizes, LaneMask lanes);
  void noteSourceSizes(const Step& step, std::uint32_t size);
  void copyLane(const Step& step, EventId event, unsigned lane, std::uint64_t destination, std::uint32_t size);
  void copyToShared(const Step& step, std::uint32_t size, LaneMask lanes, const Lanes& destinations,
                    const Lanes& sources, const Lanes* source_sizes, LaneMask ignored);

  // --- mbarriers (transfer/mbarrier.cpp, mbarrier_wait.cpp, transactions.cpp) ---
  std::uint64_t reported(const Named& named) const { return reportedAddress(*named.cta, named.address); }
  std::optional<Named> nameMbarrier(const Step& step, std::uint64_t address, LaneMask lanes);
  MbarrierObject* mbarrierAt(const Step& step, const Named& named, LaneMask lanes);
  template <typename F> void forEachMbarrier(const Step& step, F&& f);
  void initMbarrier(const Step& step, const Named& named, LaneMask lanes);
  void checkUnused(const Step& step, const MbarrierObject& object, const Named& named, LaneMask lanes, EventId event);
  void arriveMbarrier(const Step& step, const ptx::Mbarrier& effect, const Named& named, LaneMask lanes);
  void releaseInto(const Step& step, MbarrierObject& object, const Named& named, LaneMask lanes);
  void transact(const Step& step, const ptx::Mbarrier& effect, const Named& named, LaneMask lanes);
  void waitMbarrier(const Step& step, const ptx::Mbarrier& effect, const Named& named, LaneMask lanes);
  void observePhase(const Step& step, const ptx::Mbarrier& effect, MbarrierObject& object, const Named& named, LaneMask lanes);
  bool isPhaseOver(const Warp& warp, unsigned lane, const MbarrierObject& object, Phase completed) const;
  void checkUnmetWait(const Step& step, const MbarrierObject& object, const Named& named, LaneMask lanes);
  void checkPhaseKnown(const Step& step, const MbarrierObject& object, const Named& named, LaneMask lanes,
                       Phase completed, EventId event, Misuse::Kind kind);
  bool arriveLanes(const Step& step, MbarrierObject& object, const Named& named, LaneMask lanes, std::uint32_t count,
                   EventId event);
  void afterPhase(MbarrierObject& object, const Named& named);
  Phase meantPhase(const Step& step, const MbarrierObject& object, unsigned lane) const;
  void expectBytes(const Step& step, MbarrierObject& object, const Named& named, unsigned lane, std::int64_t bytes, EventId event);
  void deliverBytes(const Step& step, MbarrierObject& object, const Named& named, unsigned lane, std::int64_t bytes, EventId event);
  void reportByteMismatches(), wakePollers();

  // --- bulk copies and asynchronous stores (transfer/bulk.cpp, tensor.cpp, tensormap.cpp) ---
  struct BulkOperands;
  BulkOperands bulkOperands(const Step& step) const;
  void bulkLane(const Step& step, const BulkOperands& operands, EventId event, unsigned lane, std::uint64_t bytes);
  void completeOn(const Step& step, const BulkOperands& operands, EventId event, unsigned lane, AsyncOp& op);
  void completeOnOne(const Step& step, const Named& named, EventId event, unsigned lane, std::uint64_t bytes, AsyncOp& op);
  void readBulkSource(const Step& step, const BulkOperands& operands, EventId event, unsigned lane, const AsyncOp& op);
  void writeBulkShared(const Step& step, const BulkOperands& operands, EventId event, unsigned lane, const AsyncOp& op);
  std::optional<std::uint64_t> boxBytes(const Step& step, const BulkOperands& operands, unsigned lane);
  void gatherBox(const Step& step, const BulkOperands& operands, unsigned lane, std::uint64_t map, std::uint64_t place,
                 std::uint64_t room);
  std::uint64_t mapAddress(const Step& step, const Arg& map, unsigned lane) const;
  void useTensormap(const Step& step, std::uint64_t map, EventId event, unsigned lane), fenceTensormap(const Step& step);

  // --- peers (transfer/cluster.cpp) ---
  void usePeer(const Step& step, Cta& cta, EventId event, unsigned lane, Misuse::Kind not_started) {
    if (cta.rank != step.warp.cta) useRemote(step, cta, event, lane, not_started);
  }
  void useRemote(const Step& step, Cta& cta, EventId event, unsigned lane, Misuse::Kind not_started);
  void releaseInits(const Warp& warp, unsigned lane, Clock& target);
  void holdForCopy(Cta& cta, EventId event, const AsyncOp& op, bool is_source);
  void reportLifetimes();

  // --- tensor cores (transfer/wgmma.cpp, tcgen05.cpp) ---
  void multiply(const Step& step);
  const std::vector<ByteRange>& operandRanges(OpIndex op, bool is_b, std::uint64_t descriptor, const MatrixShape& shape);
  void readOperand(const Step& step, EventId event, EventId first, const std::vector<ByteRange>& ranges);
  void learnWarpgroup(const Step& step, std::uint32_t groups);
  bool waitForWarpgroup(const Step& step, std::uint32_t groups);
  void tensorAccess(const Step& step, Cta& cta, std::uint64_t column, std::uint32_t columns, EventId event, bool is_write,
                    std::optional<std::uint32_t> quarter);
  void readTensorOperand(const Step& step, EventId event, Cta& cta, std::uint64_t descriptor, const MatrixShape& shape);
  EventId startTensorOp(const Step& step);
  void tensorMultiply(const Step& step);
  void tensorCopy(const Step& step), tensorCommit(const Step& step);
  void tensorMove(const Step& step, bool is_load);
  void tensorAllocate(const Step& step), tensorFree(const Step& step);
  void reportTensorLeaks(), reportSplitRegisters();
  void checkAllocated(const Step& step, const Cta& cta, std::uint64_t column, std::uint32_t columns);

  // --- skip_turns.cpp ---
  bool maySkipTurns() const;
  TurnSample sampleState();
  std::uint64_t placesOfThreads() const;
  void considerSkipping(), beginTurn(), endTurn();
  void skipTurns(const TermTurn& turn, std::uint64_t turns);
  TermTurn leaveTurn(bool has_skipped);
  bool goesByTurns(symbolic::TermId term) const;
  bool addTurnCondition(symbolic::TermId predicate, bool holds, std::vector<TurnCondition>& conditions) const;
  Boundary endOfTurn(const TurnSample& end);
  bool addReturnConditions(const TurnSample& end, std::vector<TurnCondition>& conditions);

  // --- used_reads.cpp ---
  std::uint64_t watchedIn(const Warp& warp, const Arg& arg) const;
  void setWatched(Warp& warp, const Arg& arg, std::uint64_t bits, bool keeps_old);
  void watchBranch(Warp& warp, OpIndex index, std::uint64_t condition);
  void watchStep(const Step& step);
  void watchSkipped(Warp& warp, const Region& region);
  void watchLoad(Warp& warp, const Op& op, OpIndex index);

  const Setup setup_;
  unsigned needed_granule_;
  BoxFinder box_finder_;
  RaceChecker races_;
  ReadWatch* watch_ = nullptr;
  std::uint64_t progress_ = 0;
  ActorId next_actor_ = 0;
  bool is_stopped_ = false;
  bool is_on_side_ = false;                             ///< both sides of a branch are being run, one after the other
  bool has_left_turn_ = false;                          ///< a loop's exit depended on the inputs: the others' turn
  ThreadClock::time_point start_, deadline_;
  Regions regions_;
  UnknownChoices choices_;
  const bool reads_inputs_;                             ///< some load has Op::reads_input
  TurnSkips skips_;
  std::set<OpIndex> out_of_range_;
  std::map<std::uint64_t, SymbolicInputs::Word> input_words_;  ///< by address: met in this run
  std::set<std::tuple<std::uint16_t, OpIndex, std::uint64_t, Phase>> failed_polls_;  ///< RunOptions::fail_first_polls
  std::vector<Access> undrained_;                       ///< bulk stores to global memory
  std::set<std::uint64_t> loaded_maps_, stored_maps_;   ///< by tensor copies
  std::map<std::uint64_t, TensormapState> tensormaps_;  ///< that the kernel edits, by generic address
  std::map<std::tuple<OpIndex, bool, std::uint64_t>, std::vector<ByteRange>> operand_ranges_;
  std::map<std::size_t, std::vector<Multiplication>> multiplications_;  ///< by first warp of a warpgroup
  std::vector<std::uint32_t> registers_;                ///< setmaxnreg: of each thread, by warp
  std::vector<std::vector<OpIndex>> register_moves_;    ///< setmaxnreg: executed, by warp
};

}  // namespace handoff::machine
