// SPDX-License-Identifier: Apache-2.0
// CTA barriers, warp barriers and fences: what they order, whom they wait for.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analyzer/test_support/ptx_kernel.h"

namespace handoff::machine {
namespace {

using test::kReadOther;
using test::kSync;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

constexpr const char* kStoreOwn = "st.shared.v4.u32 [%s], {%r1, %r2, %r3, %r4};\n";

std::string cat(std::initializer_list<const char*> parts) {
  std::string text;
  for (const char* part : parts) text += part;
  return text;
}

std::size_t conflicts(const std::string& statements, Dim3 block = {64, 1, 1}) {
  const test::Ran ran = test::run(statements, {.block = block});
  EXPECT_THAT(ran.outcome.stuck, IsEmpty());
  EXPECT_THAT(test::limitsOf(ran), IsEmpty());
  return ran.outcome.conflicts.size();
}

TEST(WarpBarrierMask, LeavesOutALaneThatExecutesIt) {
  const char* const read_other = "xor.b32 %r59, %s, 496;\nld.shared.v4.u32 {%r60, %r61, %r62, %r63}, [%r59];\n";
  const test::Ran ran = test::run(cat({kStoreOwn, "bar.warp.sync 0xffff;\n", read_other}), {.block = {32, 1, 1}});
  ASSERT_THAT(ran.outcome.misuses, SizeIs(1));
  EXPECT_EQ(ran.outcome.misuses[0].kind, Misuse::Kind::kOutsideMask);
  EXPECT_EQ(ran.outcome.misuses[0].lanes, 0xffff0000u);
  EXPECT_THAT(ran.outcome.conflicts, Not(IsEmpty())) << "it orders the lanes of its mask only";
}

TEST(Collective, WaitsForTheLanesOfItsMask) {
  const auto elected = [](const char* mask, const char* skipping) {
    const std::string statements = std::string("setp.lt.u32 %p1, %lane, 16;\n@%p1 ") + skipping + ";\nelect.sync _|%p2, " + mask +
                                   ";\n@%p2 st.shared.u32 [tile], %r1;\nEND:\nbar.sync 0;\n";
    return test::run(statements, {.block = {32, 1, 1}}).outcome.misuses;
  };
  ASSERT_THAT(elected("0xffffffff", "bra END"), SizeIs(1));
  EXPECT_EQ(elected("0xffffffff", "bra END")[0].kind, Misuse::Kind::kDivergentBarrier);
  EXPECT_THAT(elected("0xffff0000", "bra END"), IsEmpty());
  EXPECT_THAT(elected("0xffffffff", "ret"), IsEmpty()) << "who has exited is not waited for";
}

TEST(CtaBarrierOrder, OrdersStoresAndReadsOfAllWarps) {
  EXPECT_EQ(conflicts(cat({kStoreOwn, kSync, kReadOther})), 0u);
}

TEST(CtaBarrierOrder, WithoutOneTheyRace) { EXPECT_GT(conflicts(cat({kStoreOwn, kReadOther})), 0u); }

TEST(CtaBarrierOrder, EarlierBarrierDoesNotOrderLaterStores) {
  EXPECT_GT(conflicts(cat({kSync, kStoreOwn, kReadOther})), 0u);
}

TEST(CtaBarrierOrder, BarrierOfOneIdDoesNotReleaseAnother) {
  const test::Ran ran = test::run(
      "setp.eq.u32 %p1, %w, 0;\n@%p1 bra FIRST;\nbar.sync 2, 64;\nbra END;\nFIRST:\nbar.sync 1, 64;\nEND:",
      {.block = {64, 1, 1}});
  EXPECT_THAT(ran.outcome.stuck, SizeIs(2));
}

TEST(CtaBarrierOrder, ArriveReleasesAndSyncAcquires) {
  EXPECT_EQ(
      conflicts(cat({"setp.eq.u32 %p1, %w, 0;\n@%p1 bra CONSUME;\n", kStoreOwn,
                     "bar.arrive 1, 64;\nbra END;\nCONSUME:\n", "bar.sync 1, 64;\n", kReadOther, "END:\n"})),
      0u);
}

TEST(CtaBarrierOrder, ArriveDoesNotAcquire) {
  EXPECT_GT(conflicts(cat({"setp.eq.u32 %p1, %w, 0;\n@%p1 bra CONSUME;\n", "bar.arrive 1, 64;\n", kReadOther,
                           "bra END;\nCONSUME:\n", kStoreOwn, "bar.sync 1, 64;\n", "END:\n"})),
            0u);
}

TEST(CtaBarrierOrder, ReductionIsABarrierToo) {
  EXPECT_EQ(
      conflicts(cat({kStoreOwn, "setp.eq.u32 %p1, %t, 0;\nbar.red.popc.u32 %r9, 0, %p1;\n", kReadOther})),
      0u);
  EXPECT_EQ(
      conflicts(cat({kStoreOwn, "setp.eq.u32 %p1, %t, 0;\nbar.red.or.pred %p2, 0, %p1;\n", kReadOther})), 0u);
}

TEST(CtaBarrierParticipation, ExitedThreadsAreNotWaitedForWithoutACount) {
  const test::Ran ran = test::run("setp.eq.u32 %p1, %w, 1;\n@%p1 ret;\nbar.sync 0;", {.block = {64, 1, 1}});
  EXPECT_THAT(ran.outcome.stuck, IsEmpty());
  EXPECT_THAT(ran.outcome.misuses, IsEmpty());
}

TEST(CtaBarrierParticipation, ExitIsNoRelease) {
  EXPECT_GT(conflicts(cat({"setp.eq.u32 %p1, %w, 0;\n@%p1 bra STAY;\n", kStoreOwn, "ret;\nSTAY:\n", kSync,
                           kReadOther})),
            0u);
}

TEST(CtaBarrierParticipation, ExitedThreadsAreMissingFromACount) {
  const test::Ran ran =
      test::run("setp.eq.u32 %p1, %w, 1;\n@%p1 ret;\nbar.sync 1, 64;", {.block = {64, 1, 1}});
  ASSERT_THAT(ran.outcome.stuck, SizeIs(1));
  EXPECT_EQ(ran.outcome.stuck[0].expected, 64u);
  EXPECT_EQ(ran.outcome.stuck[0].arrived, 32u);
  EXPECT_EQ(ran.outcome.exited_threads, 32u);
}

// As FlashAttention 3 starts its turns: who is first signals to itself.
TEST(CtaBarrierParticipation, AWarpThatArrivesAndWaitsInOneRoundCountsTwice) {
  const std::string turns = cat({"setp.eq.u32 %p1, %w, 0;\n@!%p1 bra SECOND;\nbar.arrive 1, 64;\nbar.sync 1, 64;\n", kStoreOwn,
                                 "bar.arrive 2, 64;\nbra END;\nSECOND:\nbar.sync 2, 64;\n", kReadOther, "END:\n"});
  const test::Ran ran = test::run(turns, {.block = {64, 1, 1}});
  EXPECT_THAT(ran.outcome.stuck, IsEmpty());
  EXPECT_THAT(ran.outcome.misuses, IsEmpty());
  EXPECT_THAT(ran.outcome.conflicts, IsEmpty());
}

// As epilogues of CUTLASS do: all arrive, and the warp that stores the tile waits besides.
TEST(CtaBarrierParticipation, OneWarpMayArriveMoreOftenThanTheOthers) {
  const std::string wait = "bar.arrive 1, 96;\nsetp.eq.u32 %p1, %w, 1;\n@!%p1 bra END;\nbar.sync 1, 96;\nEND:\n";
  const test::Ran ran = test::run(wait, {.block = {64, 1, 1}});
  EXPECT_THAT(ran.outcome.stuck, IsEmpty());
  EXPECT_THAT(ran.outcome.misuses, IsEmpty());
}

TEST(CtaBarrierParticipation, ArrivalsOfTwoRoundsNeedAWaitBetween) {
  const test::Ran ran = test::run("setp.eq.u32 %p1, %w, 0;\n@!%p1 bra WAIT;\nbar.arrive 1, 64;\nbar.arrive 1, 64;\nbar.arrive 1, 64;\n"
                                  "bra END;\nWAIT:\nbar.sync 1, 64;\nbar.sync 1, 64;\nEND:\n", {.block = {64, 1, 1}});
  EXPECT_THAT(ran.outcome.misuses, Not(IsEmpty()));
}

TEST(CtaBarrierParticipation, LaneThatSkipsAnAlignedBarrierIsAMisuse) {
  const test::Ran ran = test::run("setp.eq.u32 %p1, %t, 3;\n@%p1 bra SKIP;\nbar.sync 0;\nSKIP:\nbar.sync 0;");
  // Told once: that the lane then comes to the second barrier alone is a consequence.
  ASSERT_THAT(ran.outcome.misuses, SizeIs(1));
  EXPECT_EQ(ran.outcome.misuses[0].kind, Misuse::Kind::kDivergentBarrier);
}

// Lanes that went on without each other once are taken for the reason of all that is divergent later.
TEST(CtaBarrierParticipation, DISABLED_LaneThatSkipsABarrierAfterAHarmlessDivergence) {
  // Lanes 1-31 wait for lane 0, whose arrival stands behind the place where they meet.
  const test::Ran ran = test::run(R"(
setp.ne.u32 %p2, %lane, 0;
@!%p2 mbarrier.init.shared.b64 [bar], 1;
bar.warp.sync 0xffffffff;
@!%p2 bra JOIN;
WAIT:
mbarrier.try_wait.parity.shared.b64 %p4, [bar], 0;
@!%p4 bra WAIT;
JOIN:
@!%p2 mbarrier.arrive.shared.b64 _, [bar];
bar.warp.sync 0xffffffff;
setp.eq.u32 %p1, %t, 3;
@%p1 bra SKIP;
bar.sync 0;
SKIP:
bar.sync 0;
)");
  ASSERT_FALSE(ran.outcome.misuses.empty());
  EXPECT_EQ(ran.outcome.misuses[0].kind, Misuse::Kind::kDivergentBarrier);
}

TEST(CtaBarrierParticipation, LanesThatOnlyReturnDoNotMakeItDivergent) {
  const test::Ran ran = test::run("setp.eq.u32 %p1, %t, 3;\n@%p1 bra SKIP;\nbar.sync 0;\nSKIP:");
  EXPECT_THAT(ran.outcome.misuses, SizeIs(0));
}

TEST(CtaBarrierParticipation, ExitedLanesDoNotMakeItDivergent) {
  EXPECT_THAT(test::run("setp.eq.u32 %p1, %t, 3;\n@%p1 ret;\nbar.sync 0;").outcome.misuses, IsEmpty());
}

TEST(CtaBarrierParticipation, PredicatedBarrierIsDivergentToo) {
  const test::Ran ran = test::run("setp.ne.u32 %p1, %t, 3;\n@%p1 bar.sync 0;");
  ASSERT_THAT(ran.outcome.misuses, SizeIs(1));
  EXPECT_EQ(ran.outcome.misuses[0].kind, Misuse::Kind::kDivergentBarrier);
}

TEST(CtaBarrierParticipation, UnalignedBarrierMayBeReachedLaneByLane) {
  const test::Ran ran = test::run(
      "setp.lt.u32 %p1, %lane, 7;\n@%p1 bra LOW;\nbarrier.sync 0;\nbra END;\nLOW:\nbarrier.sync 0;\nEND:",
      {.block = {64, 1, 1}});
  EXPECT_THAT(ran.outcome.stuck, IsEmpty());
  EXPECT_THAT(ran.outcome.misuses, IsEmpty());
}

TEST(CtaBarrierParticipation, DifferentCountsAreAMisuse) {
  const test::Ran ran = test::run(
      "setp.eq.u32 %p1, %w, 0;\n@%p1 bra FIRST;\nbar.sync 1, 64;\nbra END;\nFIRST:\nbar.sync 1, 32;\nEND:",
      {.block = {64, 1, 1}});
  EXPECT_TRUE(!ran.outcome.misuses.empty() || !ran.outcome.stuck.empty());
}

TEST(CtaBarrierParticipation, CountOfTheWholeBlockIsThatOfNone) {
  const auto by = [](const std::string& count) {
    return test::run("setp.eq.u32 %p1, %w, 0;\n@%p1 bra FIRST;\nbar.sync 0;\nbra END;\nFIRST:\nbar.sync 0, " + count + ";\nEND:",
                     {.block = {64, 1, 1}});
  };
  EXPECT_THAT(by("64").outcome.misuses, IsEmpty());
  EXPECT_THAT(by("96").outcome.misuses, Not(IsEmpty()));
}

TEST(WarpBarrierOrder, OrdersItsLanesAndNoOtherWarp) {
  const std::string neighbour =
      "xor.b32 %r9, %t, 1;\nshl.b32 %r9, %r9, 4;\nmov.u32 %r8, tile;\nadd.s32 %r9, %r9, %r8;\nld.shared.u32 "
      "%r7, [%r9];\n";
  EXPECT_GT(conflicts(kStoreOwn + neighbour, {32, 1, 1}), 0u) << "lanes of a warp have no order of their own";
  EXPECT_EQ(conflicts(kStoreOwn + ("bar.warp.sync 0xffffffff;\n" + neighbour), {32, 1, 1}), 0u);
  EXPECT_GT(conflicts(cat({kStoreOwn, "bar.warp.sync 0xffffffff;\n", kReadOther})), 0u);
}

TEST(WarpBarrierOrder, LanesOutsideTheMaskAreNotOrdered) {
  const std::string statements = "setp.ge.u32 %p1, %lane, 2;\n@%p1 bra READ;\n" + std::string(kStoreOwn) +
                                 "bar.warp.sync 0x3;\nREAD:\nsetp.ne.u32 %p2, %lane, 2;\n@%p2 bra END;\n"
                                 "ld.shared.u32 %r7, [tile];\nEND:";
  EXPECT_GT(conflicts(statements, {32, 1, 1}), 0u);
}

TEST(WarpBarrierOrder, LaneThatNeverComesIsAHang) {
  const test::Ran ran =
      test::run("setp.eq.u32 %p1, %lane, 5;\n@%p1 bra END;\nbar.warp.sync 0xffffffff;\nEND:\nbar.sync 0;");
  ASSERT_FALSE(ran.outcome.stuck.empty());
  EXPECT_EQ(ran.outcome.stuck[0].kind, Stuck::Kind::kWarpBarrier);
  EXPECT_EQ(ran.outcome.stuck[0].missing_lanes, laneBit(5));
}

TEST(WarpBarrierOrder, ShufflesAndVotesOrderNoMemory) {
  const std::string neighbour =
      "xor.b32 %r9, %t, 1;\nshl.b32 %r9, %r9, 4;\nmov.u32 %r8, tile;\nadd.s32 %r9, %r9, %r8;\nld.shared.u32 "
      "%r7, [%r9];\n";
  EXPECT_GT(
      conflicts(kStoreOwn + ("shfl.sync.idx.b32 %r6, %r5, 0, 31, 0xffffffff;\n" + neighbour), {32, 1, 1}),
      0u);
}

// --- fences and flags ---

/// Warp 0 stores and publishes, warp 1 looks at the flag and reads; `publish` and `look` are given.
std::string handOver(const std::string& publish, const std::string& look) {
  return "setp.ne.u32 %p1, %lane, 0;\n@%p1 ret;\nsetp.eq.u32 %p2, %w, 1;\n@%p2 bra SECOND;\nst.shared.u32 "
         "[tile], %r1;\n" +
         publish + "ret;\nSECOND:\n" + look + "ld.shared.u32 %r3, [tile];\n";
}

TEST(Flags, ReleaseAndAcquireOrder) {
  EXPECT_EQ(conflicts(handOver("st.release.cta.shared.u32 [flag], 1;\n",
                               "ld.acquire.cta.shared.u32 %r2, [flag];\n")),
            0u);
}

TEST(Flags, RelaxedOrdersNothing) {
  EXPECT_GT(conflicts(handOver("st.relaxed.cta.shared.u32 [flag], 1;\n",
                               "ld.relaxed.cta.shared.u32 %r2, [flag];\n")),
            0u);
  EXPECT_GT(conflicts(handOver("st.release.cta.shared.u32 [flag], 1;\n",
                               "ld.relaxed.cta.shared.u32 %r2, [flag];\n")),
            0u);
  EXPECT_GT(conflicts(handOver("st.relaxed.cta.shared.u32 [flag], 1;\n",
                               "ld.acquire.cta.shared.u32 %r2, [flag];\n")),
            0u);
}

TEST(Flags, FencesOnBothSidesOfRelaxedAccessesOrder) {
  EXPECT_EQ(conflicts(handOver("fence.acq_rel.cta;\nst.relaxed.cta.shared.u32 [flag], 1;\n",
                               "ld.relaxed.cta.shared.u32 %r2, [flag];\nfence.acq_rel.cta;\n")),
            0u);
  EXPECT_EQ(conflicts(handOver("membar.cta;\nst.volatile.shared.u32 [flag], 1;\n",
                               "ld.volatile.shared.u32 %r2, [flag];\nmembar.cta;\n")),
            0u);
}

TEST(Flags, FenceAfterTheFlagPublishesNothing) {
  EXPECT_GT(conflicts(handOver("st.relaxed.cta.shared.u32 [flag], 1;\nfence.acq_rel.cta;\n",
                               "ld.relaxed.cta.shared.u32 %r2, [flag];\nfence.acq_rel.cta;\n")),
            0u);
}

TEST(Flags, FenceBeforeTheLookAcquiresNothing) {
  EXPECT_GT(conflicts(handOver("fence.acq_rel.cta;\nst.relaxed.cta.shared.u32 [flag], 1;\n",
                               "fence.acq_rel.cta;\nld.relaxed.cta.shared.u32 %r2, [flag];\n")),
            0u);
}

TEST(Flags, OtherFlagOrdersNothing) {
  EXPECT_GT(conflicts(handOver("st.release.cta.shared.u32 [flag], 1;\n",
                               "ld.acquire.cta.shared.u32 %r2, [flag+4];\n")),
            0u);
}

TEST(Flags, AtomicsAtTheFlagOrderWithReleaseAndAcquire) {
  EXPECT_EQ(conflicts(handOver("atom.release.cta.shared.add.u32 %r4, [flag], 1;\n",
                               "atom.acquire.cta.shared.add.u32 %r2, [flag], 0;\n")),
            0u);
  EXPECT_GT(
      conflicts(handOver("atom.shared.add.u32 %r4, [flag], 1;\n", "atom.shared.add.u32 %r2, [flag], 0;\n")),
      0u);
}

TEST(Flags, RelaxedAtomicOfAThirdKeepsTheRelease) {
  // A read-modify-write continues the release; a plain relaxed store would end it.
  EXPECT_EQ(conflicts(handOver(
                "st.release.cta.shared.u32 [flag], 1;\n",
                "atom.relaxed.cta.shared.add.u32 %r5, [flag], 1;\nld.acquire.cta.shared.u32 %r2, [flag];\n")),
            0u);
}

// Known miss: pending fences are kept by warp, not by lane.
TEST(Flags, FenceOfOneLaneIsNotTheFenceOfAnother) {
  // Lane 1 looks at the flag, lane 2 fences and reads.
  const std::string look =
      "setp.ne.u32 %p3, %lane, 1;\n@!%p3 ld.relaxed.cta.shared.u32 %r2, [flag];\nsetp.ne.u32 %p4, %lane, "
      "2;\n@%p4 "
      "ret;\nfence.acq_rel.cta;\n";
  const std::string publish = "fence.acq_rel.cta;\nst.relaxed.cta.shared.u32 [flag], 1;\n";
  EXPECT_GT(conflicts("setp.eq.u32 %p2, %w, 1;\n@%p2 bra SECOND;\nsetp.ne.u32 %p1, %lane, 0;\n@%p1 "
                      "ret;\nst.shared.u32 [tile], %r1;\n" +
                      publish + "ret;\nSECOND:\n" + look + "ld.shared.u32 %r3, [tile];\n"),
            0u);
}

// Known miss: as above.
TEST(Flags, ReleaseFenceOfOneLaneDoesNotReleaseForAnother) {
  // Lane 0 stores and fences, lane 1 raises the flag without having seen lane 0's store.
  const std::string statements =
      "setp.eq.u32 %p2, %w, 1;\n@%p2 bra SECOND;\nsetp.eq.u32 %p1, %lane, 0;\n@!%p1 bra RAISE;\n"
      "st.shared.u32 [tile], %r1;\nfence.acq_rel.cta;\nRAISE:\nsetp.ne.u32 %p3, %lane, 1;\n@%p3 ret;\n"
      "st.relaxed.cta.shared.u32 [flag], 1;\nret;\nSECOND:\nsetp.ne.u32 %p1, %lane, 0;\n@%p1 ret;\n"
      "ld.relaxed.cta.shared.u32 %r2, [flag];\nfence.acq_rel.cta;\nld.shared.u32 %r3, [tile];\n";
  EXPECT_GT(conflicts(statements), 0u);
}

// Known false finding: flags are followed in shared memory only.
TEST(Flags, DISABLED_FlagsInGlobalMemoryOrderToo) {
  EXPECT_EQ(conflicts(handOver("st.release.gpu.global.u32 [%out], 1;\n",
                               "ld.acquire.gpu.global.u32 %r2, [%out];\n")),
            0u);
}

TEST(Flags, StrongAccessesOfTheSameWordDoNotRace) {
  EXPECT_EQ(conflicts("st.volatile.shared.u32 [flag], %r1;\nld.volatile.shared.u32 %r2, [flag];\n"), 0u);
}

TEST(Flags, WeakReadBeforeAStrongOneStillRaces) {
  // The thread reads weakly, then strongly; the strong store of the other warp races with the weak read.
  EXPECT_GT(
      conflicts("setp.ne.u32 %p1, %lane, 0;\n@%p1 ret;\nsetp.eq.u32 %p2, %w, 1;\n@%p2 bra "
                "SECOND;\nld.shared.u32 %r1, [flag];\n"
                "ld.volatile.shared.u32 %r2, [flag];\nret;\nSECOND:\nst.volatile.shared.u32 [flag], 1;\n"),
      0u);
}

}  // namespace
}  // namespace handoff::machine
