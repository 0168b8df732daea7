// SPDX-License-Identifier: Apache-2.0
// cp.async: sizes, options, groups, and which bytes it touches when.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analyzer/test_support/ptx_kernel.h"

namespace handoff::machine {
namespace {

using test::kCommit;
using test::kCopy;
using test::kReadOther;
using test::kReadOwn;
using test::kSync;
using test::kWait;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

const std::string kCopyText = kCopy;

std::size_t conflicts(const std::string& statements, Dim3 block = {32, 1, 1}) {
  return test::run(statements, {.block = block}).outcome.conflicts.size();
}

std::vector<Misuse::Kind> misuses(const std::string& statements) {
  std::vector<Misuse::Kind> kinds;
  for (const Misuse& misuse : test::run(statements + "\ncp.async.wait_all;").outcome.misuses)
    kinds.push_back(misuse.kind);
  return kinds;
}

TEST(CopyOrder, OwnReadAfterTheWaitNeedsNoBarrier) {
  EXPECT_EQ(conflicts(kCopyText + kCommit + kWait + kReadOwn), 0u);
}

TEST(CopyOrder, OwnReadWithoutAWaitRaces) { EXPECT_EQ(conflicts(kCopyText + kCommit + kReadOwn), 1u); }

TEST(CopyOrder, OwnReadBeforeTheCopyDoesNot) {
  EXPECT_EQ(conflicts(kReadOwn + kCopyText + kCommit + kWait), 0u);
}

TEST(CopyOrder, OwnStoreOverACopyInFlightRaces) {
  EXPECT_EQ(conflicts(kCopyText + "st.shared.u32 [%s], %r1;\n" + kCommit + kWait), 1u);
}

TEST(CopyOrder, SecondCopyIntoTheSlotRacesWithoutAWaitBetween) {
  const std::string other = "cp.async.cg.shared.global [%s], [%g+4096], 16;\n";
  EXPECT_EQ(conflicts(kCopyText + other + kCommit + kWait), 1u);
  EXPECT_EQ(conflicts(kCopyText + kCommit + kWait + other + kCommit + kWait), 0u);
}

TEST(CopyOrder, SameSourceTwiceIsBenign) {
  EXPECT_EQ(conflicts(kCopyText + kCopyText + kCommit + kWait), 0u);
}

TEST(CopyOrder, LanesWithOneSourceAndOneDestinationAreBenign) {
  const std::string statements = "cp.async.cg.shared.global [tile], [%in], 16;\n";
  EXPECT_THAT(misuses(statements), IsEmpty());
  EXPECT_EQ(conflicts(statements + kCommit + kWait), 0u);
}

TEST(CopyOrder, LanesWithOneDestinationAndDifferentSourcesAreNot) {
  EXPECT_THAT(misuses("cp.async.cg.shared.global [tile], [%g], 16;\n"),
              ElementsAre(Misuse::Kind::kDuplicateDestination));
}

TEST(CopyOrder, WarpsThatCopyOneTileFromOneSourceAreBenign) {
  EXPECT_EQ(conflicts(std::string("cp.async.cg.shared.global [tile], [%in], 16;\n") + kCommit + kWait +
                          kSync + "ld.shared.u32 %r1, [tile];",
                      {64, 1, 1}),
            0u);
}

TEST(CopyOrder, BarrierDoesNotCompleteACopy) {
  EXPECT_EQ(conflicts(kCopyText + kCommit + kSync + kReadOther + kWait, {64, 1, 1}), 1u);
}

TEST(CopyOrder, WaitOfTheReaderDoesNotCompleteTheCopyOfTheWriter) {
  // Warp 0 copies; warp 1 waits for its own, empty groups.
  EXPECT_EQ(conflicts("setp.eq.u32 %p1, %w, 1;\n@%p1 bra READ;\n" + kCopyText + kCommit + kSync +
                          "bra END;\nREAD:\n" + kSync + kWait + kReadOther + "END:\n",
                      {64, 1, 1}),
            1u);
}

TEST(CopyOrder, WaitThenWarpBarrierServesTheWarp) {
  const std::string neighbour =
      "xor.b32 %r9, %t, 1;\nshl.b32 %r9, %r9, 4;\nmov.u32 %r8, tile;\nadd.s32 %r9, %r9, %r8;\nld.shared.u32 "
      "%r7, [%r9];\n";
  EXPECT_EQ(conflicts(kCopyText + kCommit + kWait + "bar.warp.sync 0xffffffff;\n" + neighbour), 0u);
  EXPECT_EQ(conflicts(kCopyText + kCommit + kWait + neighbour), 1u);
  EXPECT_EQ(conflicts(kCopyText + kCommit + "bar.warp.sync 0xffffffff;\n" + kWait + neighbour), 1u);
}

TEST(CopyOrder, ExecutedByFewerLanesItConcernsThoseOnly) {
  EXPECT_EQ(conflicts("setp.eq.u32 %p1, %lane, 4;\n@%p1 " + kCopyText + "setp.ne.u32 %p2, %lane, 4;\n@%p2 " +
                      "ld.shared.u32 %r1, [%s];\n" + kCommit + kWait),
            0u);
}

// --- the source ---

TEST(CopySource, StoreByTheSameThreadBeforeTheCopyIsOrdered) {
  EXPECT_EQ(conflicts("st.global.u32 [%g], %r1;\n" + kCopyText + kCommit + kWait), 0u);
}

TEST(CopySource, StoreWhileTheCopyReadsRaces) {
  const test::Ran ran = test::run(kCopyText + kCommit + "st.global.u32 [%g], %r1;\n" + kWait);
  ASSERT_THAT(ran.outcome.conflicts, SizeIs(1));
  EXPECT_TRUE(ran.outcome.conflicts[0].is_source);
}

TEST(CopySource, StoreAfterTheWaitDoesNot) {
  EXPECT_EQ(conflicts(kCopyText + kCommit + kWait + "st.global.u32 [%g], %r1;\n"), 0u);
}

TEST(CopySource, StoreBesideTheSourceDoesNot) {
  EXPECT_EQ(conflicts(kCopyText + kCommit + "st.global.u32 [%g+4096], %r1;\n" + kWait), 0u);
  EXPECT_EQ(conflicts(kCopyText + kCommit + "st.global.u32 [%out], %r1;\n" + kWait), 0u);
}

TEST(CopySource, BytesBeyondTheSourceSizeAreNotRead) {
  const std::string copy = "cp.async.cg.shared.global [%s], [%g], 16, 4;\n";
  EXPECT_EQ(conflicts(copy + kCommit + "st.global.u32 [%g+4], %r1;\n" + kWait), 0u);
  EXPECT_EQ(conflicts(copy + kCommit + "st.global.u32 [%g], %r1;\n" + kWait), 1u);
}

TEST(CopySource, IgnoredSourceIsNotRead) {
  const std::string copy = "setp.ge.u32 %p1, %n, 0;\ncp.async.cg.shared.global [%s], [%g], 16, %p1;\n";
  EXPECT_EQ(conflicts(copy + kCommit + "st.global.u32 [%g], %r1;\n" + kWait), 0u);
  const std::string kept = "setp.lt.u32 %p1, %n, 0;\ncp.async.cg.shared.global [%s], [%g], 16, %p1;\n";
  EXPECT_EQ(conflicts(kept + kCommit + "st.global.u32 [%g], %r1;\n" + kWait), 1u);
}

TEST(CopySource, ZeroFilledBytesMustBeWaitedForToo) {
  EXPECT_EQ(conflicts("cp.async.cg.shared.global [%s], [%g], 16, 0;\n" + std::string(kCommit) + kReadOwn),
            1u);
}

// --- shapes ---

TEST(CopyShape, AllSizesAreAccepted) {
  EXPECT_THAT(misuses("cp.async.ca.shared.global [%s], [%g], 4;\ncp.async.ca.shared.global [%s], [%g], 8;\n"
                      "cp.async.ca.shared.global [%s], [%g], 16;"),
              IsEmpty());
}

TEST(CopyShape, OtherSizesAreNot) {
  EXPECT_THAT(misuses("cp.async.ca.shared.global [%s], [%g], 12;"), ElementsAre(Misuse::Kind::kBadCopySize));
  EXPECT_THAT(misuses("cp.async.cg.shared.global [%s], [%g], 8;"), ElementsAre(Misuse::Kind::kBadCopySize));
}

TEST(CopyShape, SourceSizeMayEqualTheCopySizeAndNotExceedIt) {
  EXPECT_THAT(misuses("mov.u32 %r1, 16;\ncp.async.cg.shared.global [%s], [%g], 16, %r1;"), IsEmpty());
  EXPECT_THAT(misuses("mov.u32 %r1, 17;\ncp.async.cg.shared.global [%s], [%g], 16, %r1;"),
              ElementsAre(Misuse::Kind::kBadCopySize));
}

TEST(CopyShape, AddressesMustBeMultiplesOfTheSize) {
  EXPECT_THAT(misuses("cp.async.cg.shared.global [%s+8], [%g], 16;"),
              ElementsAre(Misuse::Kind::kMisalignedDestination));
  EXPECT_THAT(misuses("cp.async.cg.shared.global [%s], [%g+8], 16;"),
              ElementsAre(Misuse::Kind::kMisalignedSource));
  EXPECT_THAT(misuses("cp.async.ca.shared.global [%s+8], [%g+8], 8;"), IsEmpty());
}

TEST(CopyShape, SourceThatIsNotReadNeedsNoAlignment) {
  EXPECT_THAT(misuses("cp.async.cg.shared.global [%s], [%g+8], 16, 0;"), IsEmpty());
}

TEST(CopyShape, CacheHintIsNoSourceSize) {
  EXPECT_THAT(misuses("mov.u64 %d1, 0x12f0000000000000;\n"
                      "cp.async.cg.shared.global.L2::cache_hint [%s], [%g], 16, %d1;"),
              IsEmpty());
}

TEST(CopyShape, DestinationOutsideOfSharedMemoryIsALimit) {
  const test::Ran ran =
      test::run("add.u32 %r1, %s, 1048576;\ncp.async.cg.shared.global [%r1], [%g], 16;\ncp.async.wait_all;");
  EXPECT_THAT(test::limitsOf(ran), ElementsAre(::testing::HasSubstr("outside of what the launch gives")));
}

TEST(CopyShape, UnknownDestinationIsALimit) {
  const test::Ran ran =
      test::run("add.u32 %r1, %s, %u;\ncp.async.cg.shared.global [%r1], [%g], 16;\ncp.async.wait_all;");
  EXPECT_THAT(test::limitsOf(ran), ElementsAre(::testing::HasSubstr("depends on data")));
}

// --- leaving ---

TEST(CopyExit, UnwaitedCopyIsLeaked) {
  const test::Ran ran = test::run(kCopyText + kCommit);
  ASSERT_THAT(ran.outcome.misuses, SizeIs(1));
  EXPECT_EQ(ran.outcome.misuses[0].kind, Misuse::Kind::kLeakedAtExit);
}

TEST(CopyExit, WaitedCopyAndEmptyGroupsAreNot) {
  EXPECT_THAT(test::run(kCopyText + kCommit + kCommit + kCommit + "cp.async.wait_group 2;").outcome.misuses,
              IsEmpty());
}

TEST(CopyExit, CopyIssuedAfterTheTrackedOnesIsLeaked) {
  const test::Ran ran =
      test::run("setp.eq.u32 %p1, %t, 0;\n@%p1 mbarrier.init.shared.b64 [bar], 32;\n" + std::string(kSync) +
                kCopyText + "cp.async.mbarrier.arrive.noinc.shared.b64 [bar];\n" +
                "cp.async.cg.shared.global [%s+512], [%g], 16;\n" +
                "WAIT:\nmbarrier.try_wait.parity.shared.b64 %p2, [bar], 0;\n@!%p2 bra WAIT;");
  ASSERT_THAT(ran.outcome.misuses, SizeIs(1));
  EXPECT_EQ(ran.outcome.misuses[0].kind, Misuse::Kind::kLeakedAtExit);
}

}  // namespace
}  // namespace handoff::machine
