// SPDX-License-Identifier: Apache-2.0
// Divergence, unknown branches, and what is not modelled.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "analyzer/test_support/ptx_kernel.h"

namespace handoff::machine {
namespace {

using test::kCommit;
using test::kCopy;
using test::kReadOther;
using test::kReadOwn;
using test::kSync;
using test::kWait;
using test::probe;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// The words of %r1, as 64 bits.
const std::string kShow = "cvt.u64.u32 %d1, %r1;\n" + probe("%d1");

TEST(Divergence, SidesOfABranchMeetAgain) {
  const auto probes = test::probesOf(test::run(R"(
setp.lt.u32 %p1, %lane, 16;
@%p1 bra LOW;
mov.u32 %r1, 200;
bra JOIN;
LOW:
mov.u32 %r1, 100;
JOIN:
)" + kShow));
  ASSERT_EQ(probes.size(), 1u) << "one execution for the whole warp";
  EXPECT_EQ(probes[0][0], 100u);
  EXPECT_EQ(probes[0][31], 200u);
}

TEST(Divergence, LanesThatLeaveALoopOneByOneMeetAtItsEnd) {
  const auto probes = test::probesOf(test::run(R"(
mov.u32 %r1, 0;
LOOP:
add.u32 %r1, %r1, 1;
setp.le.u32 %p1, %r1, %lane;
@%p1 bra LOOP;
)" + kShow));
  ASSERT_EQ(probes.size(), 1u);
  EXPECT_EQ(probes[0][0], 1u);
  EXPECT_EQ(probes[0][9], 10u);
  EXPECT_EQ(probes[0][31], 32u);
}

TEST(Divergence, NestedBranchesMeetInsideOut) {
  const auto probes = test::probesOf(test::run(R"(
and.b32 %r2, %lane, 1;
and.b32 %r3, %lane, 2;
setp.eq.u32 %p1, %r2, 0;
setp.eq.u32 %p2, %r3, 0;
mov.u32 %r1, 8;
@%p1 bra OUTER;
@%p2 bra INNER;
add.u32 %r1, %r1, 1;
INNER:
add.u32 %r1, %r1, 2;
OUTER:
add.u32 %r1, %r1, 4;
)" + kShow));
  ASSERT_EQ(probes.size(), 1u);
  EXPECT_EQ(probes[0][0], 12u);
  EXPECT_EQ(probes[0][1], 14u);
  EXPECT_EQ(probes[0][3], 15u);
}

TEST(Divergence, GuardedInstructionsWriteTheirLanesOnly) {
  const auto probes = test::probesOf(test::run(R"(
mov.u32 %r1, 1;
setp.eq.u32 %p1, %lane, 3;
@%p1 mov.u32 %r1, 2;
@!%p1 add.u32 %r1, %r1, 6;
)" + kShow));
  EXPECT_EQ(probes.at(0)[3], 2u);
  EXPECT_EQ(probes.at(0)[4], 7u);
}

TEST(Divergence, EarlyExitLeavesTheOthersRunning) {
  const auto probes =
      test::probesOf(test::run("setp.ge.u32 %p1, %lane, 4;\n@%p1 exit;\nmov.u32 %r1, 9;\n" + kShow));
  EXPECT_EQ(probes.at(0)[3], 9u);
  EXPECT_EQ(probes.at(0)[4], 0u);
}

TEST(Divergence, OneSideMayWaitForWhatTheOtherSideArrivesAt) {
  const test::Ran ran = test::run(R"(
setp.ne.u32 %p2, %lane, 0;
@!%p2 mbarrier.init.shared.b64 [bar], 1;
bar.warp.sync 0xffffffff;
setp.lt.u32 %p1, %lane, 16;
@%p1 bra WAIT;
setp.ne.u32 %p3, %lane, 16;
@%p3 bra JOIN;
mbarrier.arrive.shared.b64 _, [bar];
bra JOIN;
WAIT:
mbarrier.try_wait.parity.shared.b64 %p4, [bar], 0;
@!%p4 bra WAIT;
JOIN:
)");
  EXPECT_THAT(ran.outcome.stuck, IsEmpty());
  EXPECT_THAT(test::rulesOf(ran), IsEmpty());
}

TEST(Divergence, OneSideMayWaitForWhatTheOtherSideArrivesAtBehindTheJoin) {
  // The arrival comes after the place where the sides meet; nothing in PTX makes lanes wait there for each
  // other.
  const test::Ran ran = test::run(R"(
setp.ne.u32 %p2, %lane, 0;
@!%p2 mbarrier.init.shared.b64 [bar], 1;
bar.warp.sync 0xffffffff;
@%p2 bra JOIN;
WAIT:
mbarrier.try_wait.parity.shared.b64 %p4, [bar], 0;
@!%p4 bra WAIT;
JOIN:
setp.eq.u32 %p5, %lane, 1;
@%p5 mbarrier.arrive.shared.b64 _, [bar];
)");
  EXPECT_THAT(ran.outcome.stuck, IsEmpty());
}

TEST(Divergence, WarpBarrierOnBothSidesIsOneBarrier) {
  const std::string statements = R"(
setp.lt.u32 %p1, %lane, 16;
@%p1 bra LOW;
bar.warp.sync 0xffffffff;
bra JOIN;
LOW:
st.shared.u32 [%s], %r1;
bar.warp.sync 0xffffffff;
JOIN:
xor.b32 %r2, %lane, 16;
mov.u32 %r3, tile;
mad.lo.u32 %r3, %r2, 16, %r3;
ld.shared.u32 %r4, [%r3];
)";
  const test::Ran ran = test::run(statements);
  EXPECT_THAT(ran.outcome.stuck, IsEmpty());
  EXPECT_THAT(ran.outcome.conflicts, IsEmpty());
}

TEST(IndexedBranch, GoesWhereTheIndexSays) {
  const std::string statements = R"(
TABLE: .branchtargets ZERO, ONE, TWO;
mov.u32 %r1, 50;
rem.u32 %r2, %w, 3;
brx.idx %r2, TABLE;
ZERO:
mov.u32 %r1, 60;
bra JOIN;
ONE:
mov.u32 %r1, 61;
bra JOIN;
TWO:
mov.u32 %r1, 62;
JOIN:
)";
  const test::Ran ran = test::run(statements + kShow, {.block = {96, 1, 1}});
  EXPECT_THAT(test::limitsOf(ran), IsEmpty());
  std::vector<std::uint64_t> words;
  for (const auto& lanes : test::probesOf(ran)) words.push_back(lanes[7]);
  EXPECT_THAT(words, ElementsAre(60, 61, 62));
}

TEST(IndexedBranch, UnknownIndexIsALimit) {
  const test::Ran ran = test::run("TABLE: .branchtargets A, B;\nbrx.idx %u, TABLE;\nA:\nbar.sync 0;\nB:");
  EXPECT_THAT(test::limitsOf(ran), ElementsAre(HasSubstr("index is unknown")));
}

// --- branches on data that the machine does not have ---

TEST(UnknownBranch, RegionWithoutProtocolIsSkippedWithoutALimit) {
  const test::Ran ran = test::run(
      "ld.global.u32 %r1, [%g];\nsetp.eq.u32 %p1, %r1, 0;\n@%p1 bra END;\n"
      "add.u32 %r2, %r1, 1;\nst.global.u32 [%out], %r2;\nEND:\nbar.sync 0;");
  EXPECT_THAT(test::limitsOf(ran), IsEmpty());
}

TEST(UnknownBranch, WhatASkippedRegionWritesBecomesUnknown) {
  // A loop is skipped, a short region is run on both sides: there the register has one of two values, 8 or what it gets.
  const test::Ran loop = test::run(
      "mov.u32 %r2, 8;\nLOOP:\nadd.u32 %r2, %r2, 4;\nld.global.u32 %r1, [%g];\nsetp.eq.u32 %p1, %r1, 0;\n@%p1 bra LOOP;\n"
      "add.u32 %r3, %s, %r2;\nst.shared.u32 [%r3], %r4;");
  EXPECT_THAT(test::limitsOf(loop), ElementsAre(HasSubstr("address of 'st.shared.u32' depends on data")));
  const auto limits = [](const char* value) {
    return test::limitsOf(test::run("mov.u32 %r2, 8;\nsetp.eq.u32 %p1, %u, 0;\n@%p1 bra END;\nmov.u32 %r2, " + std::string(value) +
                                    ";\nEND:\nadd.u32 %r3, %s, %r2;\nst.shared.u32 [%r3], %r4;"));
  };
  EXPECT_THAT(limits("16"), IsEmpty());
  EXPECT_THAT(limits("0x100000"), ElementsAre(HasSubstr("address of 'st.shared.u32' depends on data")));
}

TEST(UnknownBranch, RegionWithACopyIsALimitAndOneSideRuns) {
  const std::string statements =
      "setp.eq.u32 %p1, %u, 0;\n@%p1 bra END;\n" + std::string(kCopy) + "cp.async.wait_all;\nEND:\n";
  test::Ran ran = test::run(statements);
  EXPECT_THAT(test::limitsOf(ran), ElementsAre(HasSubstr("branch depends on data")));
  EXPECT_EQ(test::probesOf(ran).size(), 1u);
  RunOptions other;
  other.unknown_branches = UnknownBranches::kHoldEverywhere;
  EXPECT_EQ(test::probesOf(test::run(statements, {.options = other})).size(), 0u);
}

TEST(UnknownBranch, LoopWithAnUnknownExitEnds) {
  const test::Ran ran =
      test::run("LOOP:\nbar.sync 0;\nadd.u32 %r1, %r1, 1;\nsetp.lt.u32 %p1, %r1, %u;\n@%p1 bra LOOP;");
  EXPECT_THAT(test::limitsOf(ran), ElementsAre(HasSubstr("loop's exit depends on data")));
  EXPECT_LT(ran.outcome.steps, 100u);
}

TEST(UnknownBranch, UnknownGuardOfABarrierIsALimit) {
  const test::Ran ran = test::run("setp.eq.u32 %p1, %u, 0;\n@%p1 bar.sync 0;");
  EXPECT_THAT(test::limitsOf(ran), ElementsAre(HasSubstr("instruction's predicate depends on data")));
}

TEST(UnknownBranch, UnknownGuardOfArithmeticIsNone) {
  const test::Ran ran = test::run("setp.eq.u32 %p1, %u, 0;\n@%p1 mov.u32 %r1, 3;\nbar.sync 0;");
  EXPECT_THAT(test::limitsOf(ran), IsEmpty());
}

// --- what is not modelled ---

TEST(Unmodelled, UnknownOpcodeIsALimitWithItsName) {
  const test::Ran ran = test::run("frobnicate.sync.b32 %r1, %r2;");
  EXPECT_THAT(test::limitsOf(ran), ElementsAre("'frobnicate.sync.b32' is not modelled"));
}

TEST(Unmodelled, UnreachedOpcodeIsNone) {
  const test::Ran ran = test::run("bra END;\nfrobnicate.sync.b32 %r1, %r2;\nEND:");
  EXPECT_THAT(test::limitsOf(ran), IsEmpty());
}

TEST(Unmodelled, WaitBehindUnmodelledSynchronisationIsALimitAndNoHang) {
  const test::Ran ran = test::run(R"(
setp.ne.u32 %p1, %t, 0;
@%p1 bra END;
mbarrier.init.shared.b64 [bar], 1;
mbarrier.arrive.expect_tx.shared.b64 _, [bar], 1024;
frobnicate.async.complete_tx [tile], [bar];
WAIT:
mbarrier.try_wait.parity.shared.b64 %p4, [bar], 0;
@!%p4 bra WAIT;
END:
)");
  EXPECT_THAT(test::rulesOf(ran), IsEmpty());
  EXPECT_THAT(test::limitsOf(ran), ::testing::Contains(HasSubstr("frobnicate.async")));
}

TEST(Budget, EndlessLoopStopsWithALimit) {
  RunOptions options;
  options.max_steps = 10'000;
  const test::Ran ran =
      test::run("LOOP:\nadd.u32 %r1, %r1, 1;\nbar.warp.sync 0xffffffff;\nbra LOOP;", {.options = options});
  EXPECT_THAT(test::limitsOf(ran), ElementsAre(HasSubstr("10000 warp instructions")));
}

TEST(Budget, SpecialRegistersDescribeTheLaunch) {
  const auto probes = test::probesOf(test::run(
      "mov.u32 %r1, %tid.y;\nmov.u32 %r2, %ctaid.x;\nmov.u32 %r3, %nctaid.x;\nmov.u32 %r4, %ntid.y;\n"
      "mad.lo.u32 %r1, %r2, 100, %r1;\nmad.lo.u32 %r1, %r3, 10000, %r1;\nmad.lo.u32 %r1, %r4, 1000000, "
      "%r1;\n" +
          kShow,
      {.block = {8, 4, 1}, .grid = {5, 1, 1}, .block_index = {3, 0, 0}}));
  EXPECT_EQ(probes.at(0)[17], 4'050'302u);
}

TEST(Trap, IsALimitSinceNothingIsKnownOfWhatComesAfter) {
  const test::Ran ran = test::run("setp.eq.u32 %p1, %t, 3;\n@%p1 trap;\nbar.sync 1, 64;");
  EXPECT_TRUE(ran.outcome.has_trapped);
  EXPECT_FALSE(ran.outcome.limits.empty());
}

// --- setmaxnreg: 64 K registers for three warpgroups, which start with 168 a thread ---

/// Warpgroup 0 gives registers back, the two others take more.
test::Ran registerPool(const std::string& producers, const std::string& consumers) {
  return test::run(
      "setp.ge.u32 %p1, %w, 4;\n@%p1 bra MORE;\n" + producers + "bra END;\nMORE:\n" + consumers + "END:\n",
      {.block = {384, 1, 1}});
}
constexpr const char* kFewer = "setmaxnreg.dec.sync.aligned.u32 40;\n";
constexpr const char* kMore = "setmaxnreg.inc.sync.aligned.u32 232;\n";

TEST(RegisterPool, WhatSomeGiveBackOthersTake) {
  const test::Ran ran = registerPool(kFewer, kMore);
  EXPECT_THAT(ran.outcome.stuck, IsEmpty());
  EXPECT_THAT(test::rulesOf(ran), IsEmpty());
  EXPECT_THAT(test::limitsOf(ran), IsEmpty());
}

TEST(RegisterPool, OrderOfTheTwoDoesNotMatter) {
  // The producers come last on this schedule.
  const test::Ran ran = test::run("setp.lt.u32 %p1, %w, 8;\n@%p1 bra MORE;\n" + std::string(kFewer) +
                                      "bra END;\nMORE:\n" + kMore + "END:\n",
                                  {.block = {384, 1, 1}});
  EXPECT_THAT(ran.outcome.stuck, IsEmpty());
}

TEST(RegisterPool, NobodyGivesAnyBack) {
  const test::Ran ran = registerPool("", "bar.sync 1, 256;\n" + std::string(kMore));
  EXPECT_THAT(ran.outcome.stuck, IsEmpty()) << "those who leave give all of theirs back";
  const test::Ran held = registerPool("bar.sync 2, 384;\n", kMore + std::string("bar.sync 2, 384;\n"));
  ASSERT_FALSE(held.outcome.stuck.empty());
  EXPECT_TRUE(std::any_of(held.outcome.stuck.begin(), held.outcome.stuck.end(),
                          [](const Stuck& stuck) { return stuck.kind == Stuck::Kind::kRegisterPool; }));
  EXPECT_THAT(test::rulesOf(held), ::testing::Contains("hang"));
}

TEST(RegisterPool, MoreThanThePoolHolds) {
  const test::Ran ran =
      registerPool(std::string("setmaxnreg.dec.sync.aligned.u32 96;\n") + "bar.sync 2, 384;\n",
                   kMore + std::string("bar.sync 2, 384;\n"));
  EXPECT_FALSE(ran.outcome.stuck.empty()) << "96 + 2 * 232 registers for 128 threads each are more than 64 K";
}

TEST(RegisterPool, AllWarpsOfAWarpgroup) {
  EXPECT_THAT(test::rulesOf(registerPool("setp.ne.u32 %p2, %w, 0;\n@%p2 bra END;\n" + std::string(kFewer), kMore)),
              ElementsAre("divergent-protocol"));
  EXPECT_THAT(test::rulesOf(registerPool("setp.ne.u32 %p2, %w, 3;\n@%p2 bra END;\n" + std::string(kFewer), kMore)),
              ElementsAre("divergent-protocol"));
}

TEST(RegisterPool, NoMemoryEffect) {
  EXPECT_THAT(test::rulesOf(registerPool(kFewer + std::string(kCopy) + kReadOwn + kCommit + kWait, kMore)),
              ElementsAre("missing-wait"));
}

}  // namespace
}  // namespace handoff::machine
