// SPDX-License-Identifier: Apache-2.0
// Loops with a fixed, large number of turns.
#include "analyzer/machine/skip_turns.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analyzer/test_support/ptx_kernel.h"

namespace handoff::machine {
namespace {

using ::testing::IsEmpty;
using ::testing::Not;

constexpr unsigned kTurns = 20'000;

/// 64 threads; %r5 counts the turns, %r6 is the shared address of a thread of the other warp. In each turn a thread fills its 16
/// bytes, and after a barrier the other one reads them. `slot` may move %r7 and %r8, what is added to both addresses;
/// `guard`: of the barrier that ends the turn.
std::string loop(const std::string& slot = "", const std::string& guard = "") {
  return "mov.u32 %r5, 0;\nmov.u32 %r7, 0;\nmov.u32 %r9, 0;\nxor.b32 %r6, %s, 512;\nLOOP:\n" + slot +
         "add.u32 %r10, %s, %r7;\nadd.u32 %r11, %r6, %r7;\n"
         "cp.async.ca.shared.global [%r10], [%g], 16;\ncp.async.commit_group;\ncp.async.wait_group 0;\nbar.sync 0;\n"
         "ld.shared.u32 %r1, [%r11];\n" + guard + "bar.sync 0;\n"
         "add.u32 %r9, %r9, 3;\nadd.u32 %r5, %r5, 1;\nsetp.lt.u32 %p1, %r5, " + std::to_string(kTurns) + ";\n@%p1 bra LOOP;\n";
}

test::Ran run(const std::string& statements) { return test::run(statements, {.block = {64, 1, 1}}); }

TEST(SkipTurns, ALoopThatGoesOnAlikeIsNotRunToItsEnd) {
  const test::Ran ran = run(loop());
  EXPECT_GT(ran.outcome.skipped_turns, kTurns / 2);
  EXPECT_LT(ran.outcome.steps, 100'000u);
  EXPECT_FALSE(ran.outcome.was_stopped);
  EXPECT_THAT(ran.outcome.conflicts, IsEmpty());
  EXPECT_THAT(ran.outcome.limits, IsEmpty());
}

TEST(SkipTurns, RegistersHaveWhatAllTurnsGive) {
  const test::Ran ran = run(loop() + "cvt.u64.u32 %d1, %r9;\n" + test::probe("%d1"));
  ASSERT_THAT(test::probesOf(ran), Not(IsEmpty()));
  EXPECT_GT(ran.outcome.skipped_turns, 0u);
  EXPECT_EQ(test::probesOf(ran).back()[7], 3u * kTurns);
}

TEST(SkipTurns, AMistakeInOneLateTurnIsFound) {
  for (const unsigned turn : {9'000u, 9'001u, 13'333u}) {
    const std::string guard = "setp.ne.u32 %p4, %r5, " + std::to_string(turn) + ";\n@%p4 ";
    const test::Ran ran = run(loop("", guard));
    ASSERT_THAT(ran.outcome.conflicts, Not(IsEmpty())) << turn;
    EXPECT_GT(ran.outcome.skipped_turns, 0u);
    const Conflict& conflict = ran.outcome.conflicts[0];
    EXPECT_EQ(ran.outcome.log[conflict.reader()].pass, turn + 1) << "turns that are skipped are counted";
  }
}

TEST(SkipTurns, RingsReturnAfterAsManyTurnsAsTheyHaveSlots) {
  const test::Ran ran = run(loop("rem.u32 %r8, %r5, 5;\nshl.b32 %r7, %r8, 10;\n"));
  EXPECT_GT(ran.outcome.skipped_turns, 1'000u) << "periods of five turns";
  EXPECT_THAT(ran.outcome.conflicts, IsEmpty());
}

// Without the second barrier three slots are enough, as long as the slot is another one than in the two turns before.
TEST(SkipTurns, ACounterThatWrapsIsAnotherTurn) {
  const std::string guard = "setp.lt.u32 %p4, %r5, 1;\n@%p4 ";
  const auto by = [&](const std::string& counter) {
    return run(loop(counter + "rem.u32 %r8, %r12, 3;\nshl.b32 %r7, %r8, 10;\n", guard));
  };
  EXPECT_THAT(by("mov.u32 %r12, %r5;\n").outcome.conflicts, IsEmpty());
  EXPECT_GT(by("mov.u32 %r12, %r5;\n").outcome.skipped_turns, 0u);
  EXPECT_THAT(by("and.b32 %r12, %r5, 4095;\n").outcome.conflicts, Not(IsEmpty())) << "4,095 and 0 have the same slot";
}

/// Both warps copy to the same 512 bytes: the same ones where `source` adds the same to %d2, that of the lane, for both.
Outcome runTwins(const std::string& source) {
  return run("mov.u32 %r5, 0;\nshl.b32 %r6, %lane, 4;\nmov.u32 %r7, tile;\nadd.u32 %r6, %r6, %r7;\nmul.wide.u32 %d1, %lane, 16;\n"
             "add.u64 %d1, %d1, %in;\nLOOP:\nmov.u64 %d2, %d1;\n" + source +
             "cp.async.ca.shared.global [%r6], [%d2], 16;\ncp.async.commit_group;\ncp.async.wait_group 0;\nbar.sync 0;\n"
             "ld.shared.u32 %r1, [%r6];\nbar.sync 0;\nadd.u64 %d1, %d1, 512;\nadd.u32 %r5, %r5, 1;\nsetp.lt.u32 %p1, %r5, 20000;\n"
             "@%p1 bra LOOP;\n").outcome;
}

TEST(SkipTurns, CopiesOfTheSameBytesGoOnBeingSo) {
  const Outcome same = runTwins("");
  EXPECT_GT(same.skipped_turns, 0u);
  EXPECT_THAT(same.conflicts, IsEmpty());
  // From turn 15,000 on the second warp copies other bytes.
  const Outcome other = runTwins("setp.ge.u32 %p2, %r5, 15000;\nsetp.eq.and.u32 %p2, %w, 1, %p2;\n@%p2 add.u64 %d2, %d2, 1024;\n");
  EXPECT_GT(other.skipped_turns, 0u);
  EXPECT_THAT(other.conflicts, Not(IsEmpty()));
}

TEST(SkipTurns, WhatDependsOnTheTurnBySizeIsRun) {
  // The address leaves the slot after 40 turns of 16 bytes: no two turns are alike.
  const test::Ran ran = run(loop("shl.b32 %r7, %r5, 4;\nmin.u32 %r7, %r7, 8192;\n"));
  EXPECT_THAT(ran.outcome.conflicts, IsEmpty());
  EXPECT_FALSE(ran.outcome.was_stopped);
}

TEST(TurnsAlike, EndsWhereAConditionChanges) {
  symbolic::Terms terms;
  const TermId turn = terms.symbol("t", 32, 0, 4096);
  const auto below = [&](std::uint64_t limit) { return terms.less(turn, terms.constant(limit, 32), false); };
  EXPECT_EQ(turnsAlike(terms, turn, {{below(100), true}}, 4096), 99u);
  EXPECT_EQ(turnsAlike(terms, turn, {{below(100), true}, {below(7), true}}, 4096), 6u);
  EXPECT_EQ(turnsAlike(terms, turn, {{below(100), false}}, 4096), 0u);
  EXPECT_EQ(turnsAlike(terms, turn, {{terms.equal(turn, terms.constant(50, 32)), false}}, 4096), 49u);
  EXPECT_EQ(turnsAlike(terms, turn, {}, 12), 12u);
}

}  // namespace
}  // namespace handoff::machine
