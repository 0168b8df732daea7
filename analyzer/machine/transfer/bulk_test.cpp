// SPDX-License-Identifier: Apache-2.0
// Bulk copies within one CTA: transaction bytes, bulk groups, what their completion hands over, their
// operands.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analyzer/test_support/async_kernel.h"

namespace handoff::machine {
namespace {

using test::arrive;
using test::byThread;
using test::byWarp;
using test::conflictsOf;
using test::expect;
using test::expectClean;
using test::initBarriers;
using test::kBulkCommit;
using test::kBulkReadWait;
using test::kBulkWait;
using test::kProxyFence;
using test::kReadOwn;
using test::kSync;
using test::kWriteOwn;
using test::load;
using test::misusesOf;
using test::readAt;
using test::store;
using test::stuckOf;
using test::waitFor;
using test::writeAt;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Kind = Misuse::Kind;

/// 64 threads own 16 bytes of the tile each.
constexpr unsigned kTile = 1024;

test::Ran run(const std::string& statements) { return test::run(statements, {.block = {64, 1, 1}}); }

// --- global to shared, completing on an mbarrier ---

TEST(BulkLoad, WaitHandsTheBytesToEveryWaiter) {
  expectClean(run(initBarriers({1}) + byThread(0, expect(kTile) + load(0, kTile)) + waitFor(0) + kReadOwn));
}

TEST(BulkLoad, WithoutAWaitTheReadIsARace) {
  const test::Ran ran =
      run(initBarriers({1}) + byThread(0, expect(kTile) + load(0, kTile)) + kReadOwn + waitFor(0));
  EXPECT_THAT(conflictsOf(ran), ::testing::AnyOf(ElementsAre("bulk -> read"), ElementsAre("read -> bulk"),
                                                 ElementsAre("bulk -> read", "read -> bulk")));
}

TEST(BulkLoad, BlockBarrierDoesNotCompleteIt) {
  EXPECT_THAT(conflictsOf(run(initBarriers({1}) + byThread(0, expect(kTile) + load(0, kTile)) + kSync +
                              kReadOwn + waitFor(0))),
              ElementsAre("bulk -> read"));
}

TEST(BulkLoad, OneWaiterMayReleaseTheRestByABarrier) {
  expectClean(run(initBarriers({1}) + byThread(0, expect(kTile) + load(0, kTile)) + byThread(40, waitFor(0)) +
                  kSync + kReadOwn));
}

TEST(BulkLoad, ReaderThatSkipsTheWaitNeedsABarrierAfterOne) {
  EXPECT_THAT(conflictsOf(run(initBarriers({1}) + byThread(0, expect(kTile) + load(0, kTile)) + kSync +
                              byWarp(0, waitFor(0)) + kReadOwn)),
              ElementsAre("bulk -> read"));
}

TEST(BulkLoad, OverwritingTheDestinationMeanwhileIsARace) {
  EXPECT_THAT(conflictsOf(run(initBarriers({1}) + byThread(0, expect(kTile) + load(0, kTile) + writeAt(0)) +
                              waitFor(0))),
              ElementsAre("bulk -> write"));
}

TEST(BulkLoad, OverwritingAfterTheWaitIsNone) {
  expectClean(run(initBarriers({1}) + byThread(0, expect(kTile) + load(0, kTile)) + waitFor(0) + kWriteOwn));
}

TEST(BulkLoad, TwoLoadsIntoTheSameBytesOverlap) {
  EXPECT_THAT(conflictsOf(run(initBarriers({1}) +
                              byThread(0, expect(2 * kTile) + load(0, kTile) + load(0, kTile, 0, kTile)) +
                              waitFor(0))),
              ElementsAre("bulk -> bulk"));
}

TEST(BulkLoad, NextTurnAfterTheWaitAndABarrierIsOrdered) {
  // No proxy fence either: TMA writes after TMA wrote (the reads are other bytes).
  expectClean(run(initBarriers({1}) + byThread(0, expect(kTile) + load(0, kTile)) + waitFor(0) + kSync +
                  byThread(0, expect(kTile) + load(0, kTile)) + waitFor(1) + kReadOwn));
}

TEST(BulkLoad, SharedCtaDestinationIsTheSame) {
  expectClean(
      run(initBarriers({1}) +
          byThread(0, expect(kTile) +
                          "cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [tile], [%in], "
                          "1024, [bar];\n") +
          waitFor(0) + kReadOwn));
}

TEST(BulkLoad, NobodyWaitsBeforeTheBlockExits) {
  EXPECT_THAT(misusesOf(run(initBarriers({1}) + byThread(0, expect(kTile) + load(0, kTile)))),
              ElementsAre(Kind::kLeakedAtExit));
}

TEST(BulkLoad, WaitOfOneThreadIsEnoughForTheExit) {
  // The issuer itself may leave earlier.
  expectClean(run(initBarriers({1}) + byThread(0, expect(kTile) + load(0, kTile) + "exit;\n") +
                  byThread(33, waitFor(0))));
}

TEST(BulkLoad, PrefetchIsOnlyAHint) { expectClean(run("cp.async.bulk.prefetch.L2.global [%in], 1024;\n")); }

// --- transaction bytes ---

TEST(BulkBytes, TooFewExpected) {
  const test::Ran ran = run(initBarriers({1}) + byThread(0, expect(512) + load(0, kTile)) + waitFor(0));
  ASSERT_THAT(misusesOf(ran), Contains(Kind::kByteMismatch));
  EXPECT_EQ(ran.outcome.misuses[0].value, kTile);
  EXPECT_EQ(ran.outcome.misuses[0].wanted, 512u);
}

TEST(BulkBytes, TooManyExpectedHang) {
  const test::Ran ran = run(initBarriers({1}) + byThread(0, expect(2048) + load(0, kTile)) + waitFor(0));
  ASSERT_THAT(misusesOf(ran), Contains(Kind::kByteMismatch));
  EXPECT_EQ(ran.outcome.misuses[0].value, kTile);
  EXPECT_EQ(ran.outcome.misuses[0].wanted, 2048u);
  EXPECT_THAT(stuckOf(ran), Contains(Stuck::Kind::kMbarrier));
}

TEST(BulkBytes, NobodyExpectsThem) {
  // The arrival alone completes the phase; the bytes come in the next one.
  const test::Ran ran = run(initBarriers({1}) + byThread(0, arrive() + load(0, kTile)) + waitFor(0));
  EXPECT_THAT(misusesOf(ran), Contains(Kind::kByteMismatch));
}

TEST(BulkBytes, IssuedByAWholeWarpTheyComeManyTimes) {
  const test::Ran ran =
      run(initBarriers({1}) + byThread(0, expect(kTile)) + byWarp(0, load(0, kTile)) + waitFor(0));
  ASSERT_THAT(misusesOf(ran), Contains(Kind::kByteMismatch));
  EXPECT_THAT(conflictsOf(ran), Contains("bulk -> bulk"));
}

TEST(BulkBytes, ExpectedByAWholeWarpTheyAreExpectedManyTimes) {
  const test::Ran ran =
      run(initBarriers({32}) + byWarp(0, expect(kTile)) + byThread(0, load(0, kTile)) + waitFor(0));
  ASSERT_THAT(misusesOf(ran), ElementsAre(Kind::kByteMismatch));
  EXPECT_EQ(ran.outcome.misuses[0].wanted, 32 * kTile);
  EXPECT_EQ(ran.outcome.misuses[0].value, kTile);
}

TEST(BulkBytes, EachLaneItsOwnRowIsRight) {
  const std::string row =
      "shl.b32 %r1, %lane, 5;\nmov.u32 %r2, tile;\nadd.u32 %r2, %r2, %r1;\ncvt.u64.u32 %d1, %r1;\n"
      "add.s64 %d1, %in, %d1;\n"
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r2], [%d1], 32, [bar];\n";
  expectClean(run(initBarriers({1}) + byThread(0, expect(kTile)) +
                  byWarp(0, "bar.warp.sync 0xffffffff;\n" + row) + waitFor(0) + kReadOwn));
}

TEST(BulkBytes, SeveralExpectsAndCopiesAddUp) {
  expectClean(run(initBarriers({1}) +
                  byThread(0, "mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [bar], 256;\n" + load(0, 512) +
                                  load(512, 512) + expect(768)) +
                  waitFor(0) + kReadOwn));
}

TEST(BulkBytes, ExpectMayFollowTheCopyIfTheOwnArrivalIsStillToCome) {
  expectClean(run(initBarriers({1}) + byThread(0, load(0, kTile) + expect(kTile)) + waitFor(0) + kReadOwn));
}

/// bar[0] expects and receives the tile by `issuer`, and its only arrival is that of `arriver`.
std::string apart(unsigned issuer, unsigned arriver) {
  return initBarriers({1}) +
         byThread(issuer, "mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [bar], 1024;\n" + load(0, kTile)) +
         byThread(arriver, arrive()) + waitFor(0);
}

TEST(BulkBytes, ExpectUnorderedToTheLastArrivalIsLate) {
  // Whichever of the two comes first on the schedule that is run.
  EXPECT_THAT(misusesOf(run(apart(32, 0))), ElementsAre(Kind::kLateExpect));
  EXPECT_THAT(misusesOf(run(apart(0, 32))), Contains(Kind::kEarlyArrival));
  EXPECT_THAT(test::rulesOf(run(apart(32, 0))), ElementsAre("phase-race"));
  EXPECT_THAT(test::rulesOf(run(apart(0, 32))), Contains("phase-race"));
}

TEST(BulkBytes, ExpectOrderedBeforeTheLastArrivalIsNotLate) {
  expectClean(
      run(initBarriers({1}) +
          byThread(32, "mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [bar], 1024;\n" + load(0, kTile)) +
          kSync + byThread(0, arrive()) + waitFor(0) + kReadOwn));
}

TEST(BulkBytes, CounterHasARange) {
  EXPECT_THAT(misusesOf(run(initBarriers({2}) + byThread(0, expect(1'000'000) + expect(1'000'000)))),
              Contains(Kind::kByteRange));
}

TEST(BulkBytes, SecondTurnIsCountedApart) {
  // 512 too many in the first phase are not made up for by 512 too few in the second.
  const test::Ran ran = run(initBarriers({1}) + byThread(0, expect(1024) + load(0, 1024)) + waitFor(0) +
                            kSync + byThread(0, expect(512) + load(0, 1024)) + waitFor(1));
  ASSERT_THAT(misusesOf(ran), Contains(Kind::kByteMismatch));
  EXPECT_EQ(ran.outcome.misuses[0].wanted, 512u);
}

TEST(BulkBytes, NoBytesAreALimit) {
  EXPECT_THAT(test::limitsOf(run(initBarriers({1}) + byThread(0, expect(0) + load(0, 0)) + waitFor(0))),
              ElementsAre(HasSubstr("of no bytes")));
}

TEST(BulkBytes, UnknownSizeIsALimitAndNoHang) {
  const test::Ran ran = run(
      initBarriers({1}) +
      byThread(0, expect(1024) +
                      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [tile], [%in], %u, "
                      "[bar];\n") +
      waitFor(0));
  EXPECT_THAT(test::limitsOf(ran), Contains(HasSubstr("not known before the launch")));
  EXPECT_THAT(test::rulesOf(ran), IsEmpty());
}

TEST(BulkBytes, CopyIntoAPhaseThatMayNotBeOpenYet) {
  // Thread 32 issues for the second phase without knowing the first to be over.
  EXPECT_THAT(misusesOf(run(initBarriers({1}) + byThread(0, expect(kTile) + load(0, kTile)) +
                            byThread(32, expect(kTile) + load(2048, kTile)) + waitFor(1))),
              Contains(Kind::kEarlyArrival));
}

// --- shared to global, in bulk groups ---

/// Everybody writes, fences and synchronises.
const std::string kFilled = std::string(kWriteOwn) + kProxyFence + kSync;

TEST(BulkStore, CommitAndReadWaitFreeTheSource) {
  expectClean(run(kFilled + byThread(0, store(0, kTile) + kBulkCommit + kBulkReadWait) + kSync + kWriteOwn));
}

TEST(BulkStore, SourceOverwrittenBeforeTheWait) {
  EXPECT_THAT(
      conflictsOf(run(kFilled + byThread(0, store(0, kTile) + kBulkCommit + writeAt(0) + kBulkReadWait))),
      ElementsAre("bulk -> write"));
}

TEST(BulkStore, SourceMayBeReadMeanwhile) {
  expectClean(run(kFilled + byThread(0, store(0, kTile) + kBulkCommit + readAt(0) + kBulkReadWait)));
}

TEST(BulkStore, WaitOfTheIssuerReachesOthersByABarrierOnly) {
  EXPECT_THAT(
      conflictsOf(run(kFilled + byThread(0, store(0, kTile) + kBulkCommit + kBulkReadWait) + kWriteOwn)),
      Contains("bulk -> write"));
}

TEST(BulkStore, WaitOfAnotherThreadCoversNothing) {
  EXPECT_THAT(conflictsOf(run(kFilled + byThread(0, store(0, kTile) + kBulkCommit) + kSync +
                              byThread(32, kBulkReadWait + writeAt(0)) + byThread(0, kBulkReadWait))),
              ElementsAre("bulk -> write"));
}

TEST(BulkStore, PendingGroupIsNotCovered) {
  const std::string two =
      store(0, 512) + kBulkCommit + store(512, 512, 512) + kBulkCommit + "cp.async.bulk.wait_group.read 1;\n";
  expectClean(run(kFilled + byThread(0, two + writeAt(0) + kBulkReadWait)));
  EXPECT_THAT(conflictsOf(run(kFilled + byThread(0, two + writeAt(512) + kBulkReadWait))),
              ElementsAre("bulk -> write"));
}

TEST(BulkStore, EmptyGroupsCountToo) {
  expectClean(run(kFilled + byThread(0, store(0, kTile) + kBulkCommit + kBulkCommit +
                                            "cp.async.bulk.wait_group.read 1;\n" + writeAt(0))));
}

TEST(BulkStore, GroupsOfCpAsyncAreOthers) {
  EXPECT_THAT(conflictsOf(run(kFilled + byThread(0, store(0, kTile) + "cp.async.commit_group;\n" +
                                                        "cp.async.wait_group 0;\n" + writeAt(0) +
                                                        kBulkCommit + kBulkReadWait))),
              ElementsAre("bulk -> write"));
}

TEST(BulkStore, WaitWithoutACommitCoversNothing) {
  const test::Ran ran = run(kFilled + byThread(0, store(0, kTile) + kBulkReadWait + writeAt(0)));
  EXPECT_THAT(conflictsOf(ran), ElementsAre("bulk -> write"));
  EXPECT_FALSE(ran.outcome.conflicts[0].is_committed);
  ASSERT_THAT(misusesOf(ran), ElementsAre(Kind::kUndrainedAtExit));
  EXPECT_NE(ran.outcome.misuses[0].value, 0u) << "the thread waits, but for nothing";
}

TEST(BulkStore, UndrainedAtExit) {
  const test::Ran ran = run(kFilled + byThread(0, store(0, kTile) + kBulkCommit));
  ASSERT_THAT(misusesOf(ran), ElementsAre(Kind::kUndrainedAtExit));
  EXPECT_EQ(ran.outcome.misuses[0].value, 0u);
}

TEST(BulkStore, EitherWaitDrainsBeforeTheExit) {
  expectClean(run(kFilled + byThread(0, store(0, kTile) + kBulkCommit + kBulkReadWait)));
  expectClean(run(kFilled + byThread(0, store(0, kTile) + kBulkCommit + kBulkWait)));
}

TEST(BulkStore, OneUndrainedOfTwoIsTold) {
  EXPECT_THAT(misusesOf(run(kFilled + byThread(0, store(0, 512) + kBulkCommit + store(512, 512, 512) +
                                                      kBulkCommit + "cp.async.bulk.wait_group.read 1;\n"))),
              ElementsAre(Kind::kUndrainedAtExit));
}

TEST(BulkStore, SourceOfALoadStraightAway) {
  // TMA in, TMA out: one proxy, no fence.
  expectClean(run(initBarriers({1}) + byThread(0, expect(kTile) + load(0, kTile) + waitFor(0) +
                                                      store(0, kTile) + kBulkCommit + kBulkReadWait)));
}

TEST(BulkStore, SourceOfALoadThatIsStillUnderWay) {
  EXPECT_THAT(
      conflictsOf(run(initBarriers({1}) + byThread(0, expect(kTile) + load(0, kTile) + store(0, kTile) +
                                                          kBulkCommit + kBulkReadWait + waitFor(0)))),
      ElementsAre("bulk -> bulk"));
}

TEST(BulkStore, RefillByALoadNeedsTheReadWait) {
  const std::string refill = expect(kTile) + load(0, kTile) + waitFor(0);
  expectClean(
      run(initBarriers({1}) + kFilled + byThread(0, store(0, kTile) + kBulkCommit + kBulkReadWait + refill)));
  EXPECT_THAT(conflictsOf(run(initBarriers({1}) + kFilled +
                              byThread(0, store(0, kTile) + kBulkCommit + refill + kBulkReadWait))),
              ElementsAre("bulk -> bulk"));
}

// --- the destination in global memory ---

constexpr const char* kLoadOut = "ld.global.u32 %r1, [%out];\n";

TEST(BulkResult, ReadNeedsTheWaitThatIsNotForTheSourceOnly) {
  expectClean(run(kFilled + byThread(0, store(0, kTile) + kBulkCommit + kBulkWait + kLoadOut)));
  EXPECT_THAT(
      conflictsOf(run(kFilled + byThread(0, store(0, kTile) + kBulkCommit + kBulkReadWait + kLoadOut))),
      ElementsAre("bulk -> read"));
}

TEST(BulkResult, OtherThreadsReadItAfterTheWaitAndABarrier) {
  expectClean(run(kFilled + byThread(0, store(0, kTile) + kBulkCommit + kBulkWait) + kSync + kLoadOut));
  EXPECT_THAT(conflictsOf(run(kFilled + byThread(0, store(0, kTile) + kBulkCommit + kBulkReadWait) + kSync +
                              kLoadOut)),
              ElementsAre("bulk -> read"));
}

TEST(BulkResult, OrdinaryStoreToItIsOrderedByTheFullWaitOnly) {
  const std::string overwrite = "st.global.u32 [%out], %r1;\n";
  expectClean(run(kFilled + byThread(0, store(0, kTile) + kBulkCommit + kBulkWait + overwrite)));
  EXPECT_THAT(
      conflictsOf(run(kFilled + byThread(0, store(0, kTile) + kBulkCommit + kBulkReadWait + overwrite))),
      ElementsAre("bulk -> write"));
}

// A buffer gets a shadow only if something else than bulk stores accesses it, too.
TEST(BulkResult, TwoStoresToTheSameBytesOverlap) {
  EXPECT_THAT(
      conflictsOf(run(kFilled + byThread(0, store(0, 512) + store(512, 512) + kBulkCommit + kBulkWait))),
      ElementsAre("bulk -> bulk"));
}

TEST(BulkResult, TwoStoresToBytesThatAreReadOverlap) {
  EXPECT_THAT(conflictsOf(run(kFilled + byThread(0, store(0, 512) + store(512, 512) + kBulkCommit +
                                                        kBulkWait + kLoadOut))),
              ElementsAre("bulk -> bulk"));
}

TEST(BulkResult, OtherBytesAreNoneOfItsBusiness) {
  expectClean(run(kFilled + byThread(0, store(0, kTile) + kBulkCommit + kBulkReadWait +
                                            "ld.global.u32 %r1, [%out+1024];\n")));
}

TEST(BulkResult, SignalBeforeItIsWritten) {
  for (const std::string signal :
       {"st.release.gpu.global.u32 [%out+4096], %r1;\n", "red.release.gpu.global.add.u32 [%out+4096], 1;\n",
        "fence.acq_rel.gpu;\nst.relaxed.gpu.global.u32 [%out+4096], %r1;\n"}) {
    expectClean(run(kFilled + byThread(0, store(0, kTile) + kBulkCommit + kBulkWait + signal)));
    EXPECT_THAT(misusesOf(run(kFilled + byThread(0, store(0, kTile) + kBulkCommit + kBulkReadWait + signal))),
                ElementsAre(Kind::kUndrainedAtSignal))
        << signal;
  }
}

TEST(BulkResult, RelaxedStoreIsNoSignal) {
  expectClean(run(kFilled + byThread(0, store(0, kTile) + kBulkCommit + kBulkReadWait +
                                            "st.relaxed.gpu.global.u32 [%out+4096], %r1;\n")));
}

TEST(BulkResult, SignalOfAnotherThreadThatKnowsOfTheStore) {
  const std::string signal = "st.release.gpu.global.u32 [%out+4096], %r1;\n";
  EXPECT_THAT(misusesOf(run(kFilled + byThread(0, store(0, kTile) + kBulkCommit + kBulkReadWait) + kSync +
                            byThread(32, signal))),
              ElementsAre(Kind::kUndrainedAtSignal));
  expectClean(
      run(kFilled + byThread(0, store(0, kTile) + kBulkCommit + kBulkWait) + kSync + byThread(32, signal)));
}

// --- reductions ---

std::string reduce(unsigned from) {
  return "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%out], [tile+" + std::to_string(from) +
         "], 512;\n";
}

TEST(BulkReduction, TwoOfThemMayMeet) {
  expectClean(run(kFilled + byThread(0, reduce(0) + reduce(512) + kBulkCommit + kBulkReadWait)));
}

TEST(BulkReduction, OrdinaryAtomicsDoNotMixWithThem) {
  EXPECT_THAT(conflictsOf(run(kFilled + byThread(0, reduce(0) + kBulkCommit +
                                                        "red.relaxed.gpu.global.add.u32 [%out], 1;\n" +
                                                        kBulkReadWait))),
              ::testing::Not(IsEmpty()));
}

TEST(BulkReduction, SourceIsReadAsThatOfAStore) {
  EXPECT_THAT(conflictsOf(run(kFilled + byThread(0, reduce(0) + kBulkCommit + writeAt(0) + kBulkReadWait))),
              ElementsAre("bulk -> write"));
}

TEST(BulkReduction, ResultIsThereAfterTheFullWait) {
  expectClean(run(kFilled + byThread(0, reduce(0) + kBulkCommit + kBulkWait + kLoadOut)));
  EXPECT_THAT(conflictsOf(run(kFilled + byThread(0, reduce(0) + kBulkCommit + kBulkReadWait + kLoadOut))),
              ElementsAre("bulk -> read"));
}

// --- operands ---

std::string loadText(const std::string& destination, const std::string& source, unsigned bytes) {
  return "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [" + destination + "], [" +
         source + "], " + std::to_string(bytes) + ", [bar];\n";
}

TEST(BulkOperands, AlignmentOfALoad) {
  const auto kinds = [](const std::string& copy, unsigned bytes) {
    return misusesOf(run(initBarriers({1}) + byThread(0, expect(bytes) + copy) + waitFor(0)));
  };
  EXPECT_THAT(kinds(loadText("tile+8", "%in", 64), 64), ElementsAre(Kind::kMisalignedDestination));
  EXPECT_THAT(kinds(loadText("tile", "%in+8", 64), 64), ElementsAre(Kind::kMisalignedSource));
  EXPECT_THAT(kinds(loadText("tile", "%in", 72), 72), ElementsAre(Kind::kBadBulkSize));
  EXPECT_THAT(kinds(loadText("tile+16", "%in+16", 48), 48), IsEmpty());
}

TEST(BulkOperands, AlignmentOfAStore) {
  const auto kinds = [](const std::string& destination, const std::string& source) {
    return misusesOf(
        run(kFilled + byThread(0, "cp.async.bulk.global.shared::cta.bulk_group [" + destination + "], [" +
                                      source + "], 64;\n" + kBulkCommit + kBulkReadWait)));
  };
  EXPECT_THAT(kinds("%out", "tile+4"), ElementsAre(Kind::kMisalignedSharedSource));
  EXPECT_THAT(kinds("%out+4", "tile"), ElementsAre(Kind::kMisalignedGlobalDestination));
  EXPECT_THAT(kinds("%out+16", "tile+16"), IsEmpty());
}

TEST(BulkOperands, DestinationOutsideOfSharedMemory) {
  EXPECT_THAT(
      test::limitsOf(run(initBarriers({1}) + byThread(0, expect(64) + loadText("tile+16777216", "%in", 64)))),
      ::testing::AnyOf(Contains(HasSubstr("outside")), IsEmpty()));
  EXPECT_THAT(
      test::limitsOf(run(initBarriers({1}) + byThread(0, expect(64) + loadText("tile+65536", "%in", 64)))),
      Contains(HasSubstr("outside of what the launch gives")));
}

TEST(BulkOperands, CacheHintsChangeNothing) {
  expectClean(
      run(initBarriers({1}) +
          byThread(0, expect(64) +
                          "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint "
                          "[tile], [%in], 64, [bar], %d1;\n") +
          waitFor(0) + "ld.shared.u32 %r1, [tile];\n"));
  expectClean(
      run(kFilled + byThread(0,
                             "cp.async.bulk.global.shared::cta.bulk_group.L2::cache_hint [%out], [tile], "
                             "64, %d1;\n" +
                                 std::string(kBulkCommit) + kBulkReadWait)));
}

TEST(BulkOperands, BarrierIsAnObjectLikeAnyOther) {
  EXPECT_THAT(misusesOf(run(byThread(0, load(0, 64)))), ElementsAre(Kind::kUninitializedBarrier));
  EXPECT_THAT(misusesOf(run(byThread(0, "mbarrier.init.shared.b64 [bar], 1;\n") +
                            byThread(32, expect(64) + load(0, 64) + waitFor(0)))),
              Contains(Kind::kBarrierInitUnordered));
}

TEST(BulkOperands, CopyOntoALiveBarrier) {
  EXPECT_THAT(
      misusesOf(run(initBarriers({1}) + byThread(0, expect(32) + loadText("bar", "%in", 32)) + waitFor(0))),
      Contains(Kind::kBarrierOverwritten));
}

// --- st.bulk, try_cancel ---

TEST(StoreBulk, WritesLikeOrdinaryStores) {
  const std::string zero = "st.bulk.weak.shared::cta [tile], 1024, 0;\n";
  expectClean(run(byThread(0, zero) + kSync + kReadOwn));
  EXPECT_THAT(conflictsOf(run(byThread(0, zero) + kProxyFence +
                              byThread(0, store(0, kTile) + kBulkCommit + kBulkReadWait))),
              IsEmpty());
}

const std::string kTryCancel =
    "clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 [tile], [bar];\n";

TEST(TryCancel, AnswerIsSixteenBytesOnTheBarrier) {
  expectClean(run(initBarriers({1}) + byThread(0, expect(16) + kTryCancel) + waitFor(0) + readAt(0)));
  EXPECT_THAT(misusesOf(run(initBarriers({1}) + byThread(0, expect(32) + kTryCancel) + waitFor(0))),
              Contains(Kind::kByteMismatch));
  EXPECT_THAT(
      conflictsOf(run(initBarriers({1}) + byThread(0, expect(16) + kTryCancel + readAt(0)) + waitFor(0))),
      ElementsAre("bulk -> read"));
}

TEST(TryCancel, NextRequestOverwritesWhatWasRead) {
  // The example of the ISA: a fence after the read, before the next request.
  const auto twice = [](const std::string& between) {
    return conflictsOf(run(initBarriers({1, 64}) + byThread(0, expect(16) + kTryCancel) + waitFor(0) +
                           readAt(0) + between + arrive(1) +
                           byThread(0, waitFor(0, 1) + expect(16) + kTryCancel + waitFor(1))));
  };
  EXPECT_THAT(twice(kProxyFence), IsEmpty());
  EXPECT_THAT(twice(""), ElementsAre("!read -> bulk"));
}

}  // namespace
}  // namespace handoff::machine
