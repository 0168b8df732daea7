// SPDX-License-Identifier: Apache-2.0
// Fifth-generation tensor cores: who may touch operands and tensor memory when.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analyzer/machine/address.h"
#include "analyzer/test_support/async_kernel.h"

namespace handoff::machine {
namespace {

using test::arrive;
using test::barrierOf;
using test::byCta;
using test::byThread;
using test::byWarp;
using test::conflictsOf;
using test::expect;
using test::expectClean;
using test::initBarriers;
using test::kClusterSync;
using test::kProxyFence;
using test::kSync;
using test::load;
using test::misusesOf;
using test::stuckOf;
using test::waitFor;
using test::writeAt;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using Kind = Misuse::Kind;

// A slot holds A, 128 rows of 32 bytes, and behind it B, 64 rows; both K-major without swizzle, and
// contiguous.
constexpr unsigned kBytesOfA = 4096, kSlotBytes = 6144, kSlot = 8192;
constexpr unsigned kInstruction = (128u >> 4) << 24 | (64u >> 3) << 17;

std::uint64_t descriptor(unsigned at) {
  constexpr std::uint64_t kLeading = 128, kStride = 256;
  return (kSharedBase + at) >> 4 | (kLeading >> 4) << 16 | (kStride >> 4) << 32 | std::uint64_t{1} << 46;
}

// --- statements; %r40 is the address of the 128 allocated columns ---

std::string allocate() {
  return byWarp(0, "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [flag], 128;\n") + kSync +
         "ld.shared.u32 %r40, [flag];\n";
}
std::string release() {
  return kSync + byWarp(0, "tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r40, 128;\n");
}

/// Both are the work of one thread.
std::string mma(unsigned slot, unsigned column = 0) {
  return "mov.u64 %d0, " + std::to_string(descriptor(slot * kSlot)) + ";\nmov.u64 %d1, " +
         std::to_string(descriptor(slot * kSlot + kBytesOfA)) + ";\nmov.u32 %r41, " +
         std::to_string(kInstruction) + ";\nadd.u32 %r42, %r40, " + std::to_string(column) +
         ";\ntcgen05.mma.cta_group::1.kind::f16 [%r42], %d0, %d1, %r41, %p1;\n";
}
std::string commit(unsigned barrier) {
  return "tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [bar+" +
         std::to_string(8 * barrier) + "];\n";
}
/// Both are the work of a warp.
std::string loadColumns(unsigned column = 0) {
  return "add.u32 %r42, %r40, " + std::to_string(column) +
         ";\ntcgen05.ld.sync.aligned.32x32b.x4.b32 {%r1, %r2, %r3, %r4}, [%r42];\n";
}
std::string storeColumns(unsigned column = 0) {
  return "add.u32 %r42, %r40, " + std::to_string(column) +
         ";\ntcgen05.st.sync.aligned.32x32b.x4.b32 [%r42], {%r1, %r2, %r3, %r4};\n";
}
constexpr const char* kWaitLoads = "tcgen05.wait::ld.sync.aligned;\n";
constexpr const char* kWaitStores = "tcgen05.wait::st.sync.aligned;\n";
constexpr const char* kBefore = "tcgen05.fence::before_thread_sync;\n";
constexpr const char* kAfter = "tcgen05.fence::after_thread_sync;\n";

std::string fill(unsigned slot, unsigned barrier) {
  return expect(kSlotBytes, barrier) + load(slot * kSlot, kSlotBytes, barrier);
}

/// Four warps. bar[0]: loads; bar[1] and bar[2]: commits; bar[3]: 128 arrivals.
test::Ran run(const std::string& statements) {
  return test::run(initBarriers({1, 1, 1, 128}) + allocate() + statements + release(),
                   {.block = {128, 1, 1}});
}
std::vector<std::string> conflicts(const std::string& statements) { return conflictsOf(run(statements)); }

/// Thread 0 loads slot 0 and multiplies it, with a commit to bar[1].
const std::string kMultiplied = byThread(0, fill(0, 0) + waitFor(0) + mma(0) + commit(1));

// --- operands in shared memory ---

TEST(Tcgen05Operands, CommitFreesTheSlot) {
  expectClean(run(kMultiplied + byThread(0, waitFor(0, 1) + fill(0, 0) + waitFor(1))));
}

TEST(Tcgen05Operands, RefillBeforeThePhaseOfTheCommit) {
  EXPECT_THAT(conflicts(kMultiplied + byThread(0, fill(0, 0) + waitFor(1) + waitFor(0, 1))),
              ElementsAre("mma -> bulk"));
}

TEST(Tcgen05Operands, OtherThreadsRefillAfterTheirWait) {
  expectClean(run(kMultiplied + byThread(64, waitFor(0, 1) + fill(0, 0) + waitFor(1))));
}

TEST(Tcgen05Operands, GenericWriteNeedsTheCommitToo) {
  expectClean(run(kMultiplied + byThread(0, waitFor(0, 1) + writeAt(0))));
  for (const unsigned at : {0u, kBytesOfA, kSlotBytes - 16}) {
    EXPECT_THAT(conflicts(kMultiplied + byThread(0, writeAt(at) + waitFor(0, 1))),
                ElementsAre("mma -> write"))
        << at;
  }
  EXPECT_THAT(conflicts(kMultiplied + byThread(0, writeAt(kSlotBytes) + waitFor(0, 1))), IsEmpty());
}

// The load is known to be over in time only, which will do for another copy but not for a store.
TEST(Tcgen05Operands, EpilogueThatReusesTheSlotNeedsNoWaitForItsLoad) {
  expectClean(run(kMultiplied + byThread(64, waitFor(0, 1) + writeAt(0))));
}

TEST(Tcgen05Operands, CommitCoversWhatCameBeforeItOnly) {
  EXPECT_THAT(conflicts(byThread(0, fill(0, 0) + waitFor(0) + commit(1) + mma(0) + waitFor(0, 1) +
                                        fill(0, 0) + waitFor(1) + commit(2) + waitFor(0, 2))),
              ElementsAre("mma -> bulk"));
}

TEST(Tcgen05Operands, CommitOfAnotherThreadCoversNothing) {
  EXPECT_THAT(conflicts(byThread(0, fill(0, 0) + waitFor(0) + mma(0)) + kSync + byThread(32, commit(1)) +
                        byThread(0, waitFor(0, 1) + fill(0, 0) + waitFor(1) + commit(2) + waitFor(0, 2))),
              ElementsAre("mma -> bulk"));
}

// Operations without a commit are kept for the warp and not for the thread.
TEST(Tcgen05Operands, CommitOfAnotherLaneCoversNothingEither) {
  EXPECT_THAT(conflicts(byThread(0, fill(0, 0) + waitFor(0) + mma(0)) + kSync + byThread(1, commit(1)) +
                        byThread(0, waitFor(0, 1) + fill(0, 0) + waitFor(1) + commit(2) + waitFor(0, 2))),
              ElementsAre("mma -> bulk"));
}

TEST(Tcgen05Operands, SeveralMultiplicationsUnderOneCommit) {
  expectClean(
      run(byThread(0, fill(0, 0) + waitFor(0) + fill(1, 0) + waitFor(1) + mma(0) + mma(1) + commit(1)) +
          byThread(0, waitFor(0, 1) + writeAt(0) + writeAt(kSlot))));
}

TEST(Tcgen05Operands, CommitIsAnArrivalThatTheCountIncludes) {
  EXPECT_THAT(stuckOf(test::run(initBarriers({1, 2}) + allocate() + kMultiplied + waitFor(0, 1) + release(),
                                {.block = {128, 1, 1}})),
              Contains(Stuck::Kind::kMbarrier));
}

TEST(Tcgen05Operands, WrittenByThreadsTheyNeedAProxyFence) {
  const std::string write = "st.shared.v4.u32 [%s], {%r1, %r2, %r3, %r4};\n";
  const std::string multiply = byThread(0, mma(0) + commit(1)) + waitFor(0, 1);
  expectClean(run(write + kProxyFence + kSync + multiply));
  expectClean(run(write + kSync + byThread(0, kProxyFence) + multiply));
  EXPECT_THAT(conflicts(write + kSync + multiply), ElementsAre("!write -> mma"));
}

TEST(Tcgen05Operands, MultiplicationBeforeItsDataIsThere) {
  EXPECT_THAT(conflicts(byThread(0, fill(0, 0) + mma(0) + commit(1) + waitFor(0) + waitFor(0, 1))),
              ElementsAre("bulk -> mma"));
}

TEST(Tcgen05Operands, CopyIntoTensorMemoryReadsThem) {
  const std::string copy =
      "mov.u64 %d0, " + std::to_string(descriptor(0)) + ";\ntcgen05.cp.cta_group::1.128x256b [%r40], %d0;\n";
  expectClean(
      run(byThread(0, fill(0, 0) + waitFor(0) + copy + commit(1) + waitFor(0, 1) + fill(0, 0) + waitFor(1))));
  EXPECT_THAT(conflicts(byThread(
                  0, fill(0, 0) + waitFor(0) + copy + commit(1) + fill(0, 0) + waitFor(1) + waitFor(0, 1))),
              ElementsAre("mma -> bulk"));
}

TEST(Tcgen05Operands, UnknownOnesAreALimit) {
  const test::Ran ran =
      run(byThread(0, "cvt.u64.u32 %d0, %u;\nmov.u32 %r41, " + std::to_string(kInstruction) +
                          ";\ntcgen05.mma.cta_group::1.kind::f16 [%r40], %d0, %d0, %r41, %p1;\n"));
  EXPECT_THAT(test::limitsOf(ran), Contains(HasSubstr("not known before the launch")));
}

// --- results in tensor memory ---

TEST(Tcgen05Result, LoadAfterThePhaseOfTheCommit) {
  expectClean(run(kMultiplied + waitFor(0, 1) + kAfter + loadColumns() + kWaitLoads));
}

TEST(Tcgen05Result, LoadBeforeIt) {
  EXPECT_THAT(conflicts(kMultiplied + kSync + kAfter + loadColumns() + kWaitLoads + waitFor(0, 1)),
              ElementsAre("mma -> tmem"));
}

TEST(Tcgen05Result, OneWaiterReleasesTheRestByABarrier) {
  expectClean(
      run(kMultiplied + byThread(0, waitFor(0, 1)) + kBefore + kSync + kAfter + loadColumns() + kWaitLoads));
}

TEST(Tcgen05Result, WarpThatSkipsTheWait) {
  EXPECT_THAT(conflicts(kMultiplied + kSync + byWarp(1, waitFor(0, 1)) + loadColumns() + kWaitLoads),
              ElementsAre("mma -> tmem"));
}

TEST(Tcgen05Result, OtherColumnsAreFree) {
  expectClean(run(kMultiplied + loadColumns(64) + kWaitLoads + waitFor(0, 1)));
  EXPECT_THAT(conflicts(kMultiplied + kSync + loadColumns(60) + kWaitLoads + waitFor(0, 1)),
              ElementsAre("mma -> tmem"));
}

TEST(Tcgen05Result, AccumulationIsInOrder) {
  expectClean(run(byThread(0, fill(0, 0) + waitFor(0) + mma(0) + mma(0) + mma(0) + commit(1)) +
                  waitFor(0, 1) + loadColumns() + kWaitLoads));
}

/// Everybody loads the accumulator and arrives at bar[3]; then thread 0 overwrites it.
std::string nextTile(const std::string& before_arrival, const std::string& after_arrival) {
  return kMultiplied + waitFor(0, 1) + loadColumns() + before_arrival + arrive(3) + after_arrival +
         byThread(0, waitFor(0, 3) + mma(0) + commit(2)) + waitFor(0, 2);
}

TEST(Tcgen05Result, LoadsAreWaitedForBeforeTheNextTile) {
  expectClean(run(nextTile(std::string(kWaitLoads) + kBefore, "")));
  EXPECT_THAT(conflicts(nextTile(kBefore, kWaitLoads)), ElementsAre("tmem -> mma"));
}

TEST(Tcgen05Result, NextTileInOtherColumnsNeedsNoWait) {
  expectClean(run(kMultiplied + waitFor(0, 1) + loadColumns() + byThread(0, mma(0, 64) + commit(2)) +
                  waitFor(0, 2) + kWaitLoads));
}

// Of what a commit has covered only the last operation gets the phase of the next commit as well.
TEST(Tcgen05Result, LaterCommitCoversEarlierAccumulatorsToo) {
  // The first commit frees the operands, the second hands over both accumulators.
  expectClean(run(byThread(0, fill(0, 0) + waitFor(0) + mma(0, 0) + mma(0, 64) + commit(1) + commit(2)) +
                  waitFor(0, 2) + loadColumns(0) + loadColumns(64) + kWaitLoads));
}

TEST(Tcgen05Result, LaterCommitCoversTheAccumulatorOfAllSteps) {
  expectClean(run(byThread(0, fill(0, 0) + waitFor(0) + mma(0) + commit(1) + waitFor(0, 1) + mma(0) + mma(0) +
                                  commit(1) + commit(2)) +
                  waitFor(0, 2) + loadColumns(0) + kWaitLoads + byThread(0, waitFor(1, 1))));
}

// --- loads and stores of threads ---

TEST(Tcgen05Moves, StoreThenLoadOfOneWarp) {
  expectClean(run(storeColumns() + kWaitStores + loadColumns() + kWaitLoads));
  EXPECT_THAT(conflicts(storeColumns() + loadColumns() + kWaitLoads + kWaitStores),
              ElementsAre("tmem -> tmem"));
}

TEST(Tcgen05Moves, LoadThenStoreOfOneWarp) {
  expectClean(run(storeColumns() + kWaitStores + loadColumns() + kWaitLoads + storeColumns() + kWaitStores));
  EXPECT_THAT(conflicts(loadColumns() + storeColumns() + kWaitLoads + kWaitStores),
              ElementsAre("tmem -> tmem"));
}

TEST(Tcgen05Moves, WaitForLoadsIsNoneForStores) {
  EXPECT_THAT(conflicts(storeColumns() + kWaitLoads + loadColumns() + kWaitLoads + kWaitStores),
              ElementsAre("tmem -> tmem"));
}

TEST(Tcgen05Moves, EachWarpHasLanesOfItsOwn) {
  expectClean(run(byWarp(0, storeColumns() + kWaitStores) + byWarp(1, loadColumns() + kWaitLoads)));
}

TEST(Tcgen05Moves, WarpsOfOneRankModuloFourShareThem) {
  // Warps 0 and 4 reach the same lanes.
  const auto by = [](const std::string& between) {
    return conflictsOf(test::run(initBarriers({1}) + allocate() + byWarp(0, storeColumns() + kWaitStores) +
                                     between + byWarp(4, loadColumns() + kWaitLoads) + release(),
                                 {.block = {256, 1, 1}}));
  };
  EXPECT_THAT(by(kSync), IsEmpty());
  EXPECT_THAT(by(""), Not(IsEmpty()));
}

TEST(Tcgen05Moves, OperandInTensorMemory) {
  const std::string multiply = "mov.u64 %d1, " + std::to_string(descriptor(kBytesOfA)) + ";\nmov.u32 %r41, " +
                               std::to_string(kInstruction) +
                               ";\nadd.u32 %r42, %r40, 64;\n"
                               "tcgen05.mma.cta_group::1.kind::f16 [%r40], [%r42], %d1, %r41, %p1;\n";
  const auto by = [&](const std::string& wait, const std::string& late_wait) {
    return conflicts(storeColumns(64) + storeColumns(68) + wait + kBefore + kSync +
                     byThread(0, fill(0, 0) + waitFor(0) + kAfter + multiply + commit(1)) + waitFor(0, 1) +
                     late_wait);
  };
  EXPECT_THAT(by(kWaitStores, ""), IsEmpty());
  EXPECT_THAT(by("", kWaitStores), ElementsAre("tmem -> mma"));
}

// --- one thread issues ---

TEST(Tcgen05Commit, ByAllLanesIsAnArrivalEach) {
  const auto committed = [](const std::string& by_lanes) {
    return misusesOf(test::run(initBarriers({1, 1}) + allocate() + byThread(0, fill(0, 0)) + waitFor(0) +
                                   byWarp(0, by_lanes) + waitFor(0, 1) + kAfter + release(),
                               {.block = {128, 1, 1}}));
  };
  EXPECT_THAT(committed(byThread(0, mma(0) + commit(1))), IsEmpty());
  EXPECT_THAT(committed(mma(0) + commit(1)), ElementsAre(Kind::kEarlyArrival));
}

TEST(Tcgen05Commit, CoversItsOwnLanesMultiplications) {
  EXPECT_THAT(conflicts(byThread(0, fill(0, 0)) + waitFor(0) + byWarp(0, mma(0)) + byThread(0, commit(1)) + waitFor(0, 1) + kAfter +
                        loadColumns() + kWaitLoads),
              Contains("mma -> tmem"));
}

// --- allocation ---

TEST(Tcgen05Allocation, FreedByTheEnd) {
  expectClean(test::run(allocate() + release(), {.block = {128, 1, 1}}));
  EXPECT_THAT(misusesOf(test::run(allocate(), {.block = {128, 1, 1}})), ElementsAre(Kind::kTensorMemoryLeak));
}

TEST(Tcgen05Allocation, FreedAsItWasAllocated) {
  const auto freed = [](const std::string& statement) {
    return misusesOf(test::run(allocate() + kSync + byWarp(0, statement), {.block = {128, 1, 1}}));
  };
  const std::string free = "tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r40, ";
  EXPECT_THAT(freed(free + "64;\n"), ElementsAre(Kind::kTensorMemoryUnallocated, Kind::kTensorMemoryLeak));
  EXPECT_THAT(freed(free + "128;\n" + free + "128;\n"), ElementsAre(Kind::kTensorMemoryUnallocated));
}

TEST(Tcgen05Allocation, LoadedBeyondItsEnd) {
  const auto loaded = [](unsigned column) {
    return misusesOf(test::run(allocate() + loadColumns(column) + kWaitLoads + release(), {.block = {128, 1, 1}}));
  };
  EXPECT_THAT(loaded(124), IsEmpty());
  EXPECT_THAT(loaded(126), ElementsAre(Kind::kTensorMemoryUnallocated));
}

TEST(Tcgen05Allocation, FreedWhileItIsStillLoaded) {
  EXPECT_THAT(conflicts(kMultiplied + waitFor(0, 1) + loadColumns()), ElementsAre("tmem -> write"));
}

TEST(Tcgen05Allocation, FreedWhileItIsStillWritten) {
  EXPECT_THAT(conflictsOf(test::run(initBarriers({1, 1}) + allocate() + kMultiplied + release(),
                                    {.block = {128, 1, 1}})),
              ElementsAre("mma -> write"));
}

TEST(Tcgen05Allocation, AddressIsAWordLikeAnyOther) {
  const std::string unordered =
      byWarp(0, "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [flag], 128;\n") +
      "ld.shared.u32 %r40, [flag];\n";
  EXPECT_THAT(conflictsOf(test::run(test::kCopy + std::string("cp.async.wait_all;\n") + unordered +
                                        loadColumns() + kWaitLoads + release(),
                                    {.block = {128, 1, 1}})),
              Not(IsEmpty()));
}

TEST(Tcgen05Allocation, AfterTheRightIsGivenUp) {
  const std::string relinquish = "tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;\n";
  const std::string second =
      "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [flag+4], 32;\n"
      "ld.shared.u32 %r43, [flag+4];\n";
  const std::string free_second = "tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r43, 32;\n";
  expectClean(test::run(allocate() + byWarp(0, relinquish) + release(), {.block = {128, 1, 1}}));
  EXPECT_THAT(misusesOf(test::run(allocate() + byWarp(0, relinquish + second + free_second) + release(),
                                  {.block = {128, 1, 1}})),
              ElementsAre(Kind::kTensorMemoryAfterRelinquish));
}

TEST(Tcgen05Allocation, TwoAllocationsAreDifferentColumns) {
  const std::string second =
      byWarp(0, "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [flag+4], 128;\n") + kSync +
      "ld.shared.u32 %r43, [flag+4];\n";
  const std::string other = "tcgen05.ld.sync.aligned.32x32b.x4.b32 {%r1, %r2, %r3, %r4}, [%r43];\n";
  expectClean(run(second + kMultiplied + other + kWaitLoads + waitFor(0, 1) + kSync +
                  byWarp(0, "tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r43, 128;\n")));
}

TEST(Tcgen05Allocation, FreedColumnsAreGivenOutAgain) {
  expectClean(test::run(allocate() + release() + allocate() + release(), {.block = {128, 1, 1}}));
}

TEST(Tcgen05Allocation, MoreThanThereIsIsALimit) {
  const test::Ran ran =
      test::run(byWarp(0,
                       "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [flag], 512;\n"
                       "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [flag+4], 32;\n") +
                    kSync + "ld.shared.u32 %r40, [flag];\n" + kSync +
                    byWarp(0, "tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r40, 512;\n"),
                {.block = {128, 1, 1}});
  EXPECT_THAT(test::limitsOf(ran), Contains(HasSubstr("used up")));
}

// --- pairs of CTAs ---

/// Two CTAs of four warps each.
test::Ran runPair(const std::string& statements) {
  return test::run(initBarriers({1, 1}) + kClusterSync + allocate() + statements + release() + kClusterSync,
                   {.block = {128, 1, 1}, .grid = {2, 1, 1}, .cluster = {2, 1, 1}});
}

std::string commitToBoth() {
  return "mov.u16 %h1, "
         "3;\ntcgen05.commit.cta_group::2.mbarrier::arrive::one.shared::cluster.multicast::cluster.b64 "
         "[bar+8], %h1;\n";
}
std::string mmaOfPair() {
  return "mov.u64 %d0, " + std::to_string(descriptor(0)) + ";\nmov.u64 %d1, " +
         std::to_string(descriptor(kBytesOfA)) + ";\nmov.u32 %r41, " +
         std::to_string((256u >> 4) << 24 | (128u >> 3) << 17) +
         ";\ntcgen05.mma.cta_group::2.kind::f16 [%r40], %d0, %d1, %r41, %p1;\n";
}
/// Each CTA loads its half; the leader multiplies both.
std::string pair(const std::string& leader_waits, const std::string& committing) {
  return byThread(0, fill(0, 0)) + waitFor(0) + leader_waits +
         byCta(0, byThread(0, mmaOfPair() + committing));
}

TEST(Tcgen05Pair, CommitArrivesInBothCtas) {
  expectClean(runPair(pair(kClusterSync, commitToBoth()) + waitFor(0, 1) + byThread(0, fill(0, 0)) +
                      waitFor(1) + loadColumns() + kWaitLoads));
}

TEST(Tcgen05Pair, LeaderNeedsTheDataOfItsPeer) {
  EXPECT_THAT(conflictsOf(runPair(pair("", commitToBoth()) + waitFor(0, 1))), Not(IsEmpty()));
}

TEST(Tcgen05Pair, PeerRefillsItsHalfAfterTheCommitOnly) {
  EXPECT_THAT(conflictsOf(runPair(pair(kClusterSync, commitToBoth()) +
                                  byCta(1, byThread(0, fill(0, 0)) + waitFor(1)) + waitFor(0, 1))),
              Contains(::testing::AnyOf("mma -> bulk", "bulk -> mma")));
}

TEST(Tcgen05Pair, CommitToOneCtaLeavesTheOtherWaiting) {
  EXPECT_THAT(stuckOf(runPair(pair(kClusterSync, commit(1)) + waitFor(0, 1))),
              Contains(Stuck::Kind::kMbarrier));
}

}  // namespace
}  // namespace handoff::machine
