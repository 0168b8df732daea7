// SPDX-License-Identifier: Apache-2.0
// Verdicts of kernels whose protocol goes by words in global memory.
#include "analyzer/explore/input_words.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "analyzer/explore/kernel_for_test.h"
#include "analyzer/test_support/ptx_kernel.h"

namespace handoff::explore {
namespace {

using diagnose::KernelReport;
using diagnose::Severity;
using diagnose::Verdict;

/// Two warps; %d1 is `source`, %d2 `words`, %d3 `out`, %n a size, %r4 the shared address of the thread's 16 bytes, %r5 that of
/// its neighbour in the other warp, %d4 the address of the block's word.
KernelReport check(const std::string& statements) {
  const std::string text = R"(.version 8.8
.target sm_80
.address_size 64
.visible .entry k(.param .u64 .ptr .global k_param_0, .param .u64 .ptr .global k_param_1, .param .u64 .ptr .global k_param_2,
                  .param .u32 k_param_3)
.reqntid 64, 1, 1
{
.shared .align 16 .b8 all[4096];
.reg .pred %p<8>;
.reg .b32 %r<32>, %n;
.reg .b64 %d<16>;
ld.param.u64 %d1, [k_param_0];
ld.param.u64 %d2, [k_param_1];
ld.param.u64 %d3, [k_param_2];
ld.param.u32 %n, [k_param_3];
mov.u32 %r2, all;
mov.u32 %r3, %tid.x;
shl.b32 %r4, %r3, 4;
add.u32 %r4, %r4, %r2;
xor.b32 %r5, %r3, 32;
shl.b32 %r5, %r5, 4;
add.u32 %r5, %r5, %r2;
mov.u32 %r6, %ctaid.x;
mul.wide.u32 %d4, %r6, 4;
add.u64 %d4, %d2, %d4;
mul.wide.u32 %d5, %r3, 16;
add.u64 %d5, %d1, %d5;
)" + statements + R"(
END:
ret;
}
)";
  return reportOf(unitOf(std::move(*test::parseModule(text)), {pointerField("source", 0), pointerField("words", 1), pointerField("out", 2), integerField("n", 3)}));
}

const std::string kLoad = "ld.global.u32 %r8, [%d4];\n";
const std::string kCopy = "cp.async.cg.shared.global [%r4], [%d5], 16;\ncp.async.commit_group;\n";
const std::string kWait = "cp.async.wait_group 0;\nbar.sync 0;\n";
const std::string kRead = "ld.shared.u32 %r9, [%r5];\nst.global.u32 [%d3], %r9;\n";
const std::string kUnlessNegative = "setp.lt.s32 %p1, %r8, 0;\n@%p1 bra END;\n";

bool hasDefect(const KernelReport& kernel) {
  return std::any_of(kernel.findings.begin(), kernel.findings.end(), [](const diagnose::Finding& f) { return f.severity != Severity::kNote; });
}

TEST(InputWords, AWordOfTheBlockIsAnInput) {
  const KernelReport kernel = check(kLoad + kUnlessNegative + kCopy + kWait + kRead);
  EXPECT_EQ(kernel.verdict, Verdict::kVerified);
  EXPECT_TRUE(kernel.findings.empty());
}

TEST(InputWords, WhatItLeadsToIsFoundWithItsValue) {
  const KernelReport kernel = check(kLoad + kUnlessNegative + kCopy + "bar.sync 0;\n" + kRead);
  EXPECT_EQ(kernel.verdict, Verdict::kViolation);
  ASSERT_FALSE(kernel.findings.empty());
  EXPECT_EQ(kernel.findings[0].severity, Severity::kError);
  EXPECT_THAT(kernel.findings[0].witness.parameters, testing::Contains(testing::Pair("words[0]", testing::_)));
}

TEST(InputWords, OneSideOnlyIsEnough) {
  const KernelReport kernel = check(kLoad + "setp.lt.s32 %p1, %r8, 0;\n" + kCopy + "@%p1 bra NEXT;\n" + "cp.async.wait_group 0;\nNEXT:\nbar.sync 0;\n" + kRead);
  EXPECT_EQ(kernel.verdict, Verdict::kViolation);
}

TEST(InputWords, NotWhereTheKernelWritesThem) {
  const std::string body = kUnlessNegative + kCopy + kWait + kRead;
  EXPECT_EQ(check("st.global.u32 [%d4+4], %r3;\n" + kLoad + body).verdict, Verdict::kBounded);
  EXPECT_EQ(check(kLoad + body + "st.global.u32 [%d4], %r3;\n").verdict, Verdict::kBounded);
  EXPECT_EQ(check(kLoad + body + "red.global.add.u32 [%d2], 1;\n").verdict, Verdict::kBounded);
  // A pointer that lay in memory may lead anywhere, alone or as one of two.
  EXPECT_EQ(check(kLoad + body + "ld.global.u64 %d8, [%d1];\nst.global.u32 [%d8], %r3;\n").verdict, Verdict::kBounded);
  EXPECT_EQ(check(kLoad + body + "mov.u64 %d8, %d3;\nsetp.eq.u32 %p3, %r3, 0;\n@%p3 ld.global.u64 %d8, [%d1];\nst.global.u32 [%d8], %r3;\n").verdict,
            Verdict::kBounded);
  EXPECT_EQ(check(kLoad + body + "st.u32 [%d6], %r3;\n").verdict, Verdict::kBounded);
}

TEST(InputWords, WhatIsReadOnlyByItsInstructionIs) {
  EXPECT_EQ(check("ld.global.nc.u32 %r8, [%d4];\n" + kUnlessNegative + kCopy + kWait + kRead + "st.global.u32 [%d4+64], %r3;\n").verdict, Verdict::kVerified);
}

TEST(InputWords, NotWhatOthersMayChange) {
  for (const char* load : {"ld.volatile.global.u32 %r8, [%d4];\n", "ld.relaxed.gpu.global.u32 %r8, [%d4];\n", "atom.global.add.u32 %r8, [%d4], 0;\n"}) {
    EXPECT_EQ(check(load + kUnlessNegative + kCopy + kWait + kRead).verdict, Verdict::kBounded) << load;
  }
}

TEST(InputWords, EachWarpHasItsOwn) {
  const std::string load = "shr.u32 %r7, %r3, 5;\nmul.wide.u32 %d6, %r7, 4;\nadd.u64 %d6, %d2, %d6;\nld.global.u32 %r8, [%d6];\n";
  // Copies of the warp's own: right for both values of both.
  EXPECT_EQ(check(load + kUnlessNegative + kCopy + "cp.async.wait_group 0;\nld.shared.u32 %r9, [%r4];\n").verdict, Verdict::kVerified);
  // One warp may come to the barrier alone: it then reads what the other one never copied, and nothing orders that.
  const KernelReport kernel = check(kCopy + load + kUnlessNegative + kWait + kRead);
  EXPECT_NE(kernel.verdict, Verdict::kVerified);
  EXPECT_TRUE(hasDefect(kernel));
}

TEST(InputWords, NotOneOfEachThread) {
  const std::string load = "mul.wide.u32 %d6, %r3, 4;\nadd.u64 %d6, %d2, %d6;\nld.global.u32 %r8, [%d6];\n";
  EXPECT_EQ(check(load + kUnlessNegative + kCopy + kWait + kRead).verdict, Verdict::kBounded);
}

TEST(InputWords, ConditionsOnOneWordGoTogether) {
  // The read without a wait comes only where no copy was made.
  const std::string early = "setp.lt.s32 %p1, %r8, 0;\n@!%p1 bra NEXT;\n" + kRead + "bra END;\nNEXT:\n";
  const KernelReport kernel = check(kLoad + "setp.ge.s32 %p2, %r8, 0;\n@!%p2 bra SKIP;\n" + kCopy + "SKIP:\n" + early + kWait + kRead);
  EXPECT_EQ(kernel.verdict, Verdict::kVerified);
  // Loaded twice, it is the same word.
  const KernelReport twice = check(kLoad + "setp.ge.s32 %p2, %r8, 0;\n@!%p2 bra SKIP;\n" + kCopy + "SKIP:\n" + "ld.global.u32 %r8, [%d4];\n" + early + kWait + kRead);
  EXPECT_EQ(twice.verdict, Verdict::kVerified);
}

TEST(InputWords, TwoAddressesThatMayBeOneNeverHaveTwoValues) {
  // words[block] and words[0]: different values are possible, but not in block 0.
  const std::string both = kLoad + "ld.global.u32 %r9, [%d2];\n";
  const std::string differ = "setp.eq.u32 %p1, %r8, %r9;\n@%p1 bra END;\n";
  EXPECT_FALSE(hasDefect(check(both + differ + kCopy + kWait + kRead)));
  EXPECT_NE(check(both + differ + kCopy + "bar.sync 0;\n" + kRead).verdict, Verdict::kVerified);
}

TEST(InputWords, AWordBehindAWord) {
  const std::string load = kLoad + "mul.wide.u32 %d6, %r8, 4;\nadd.u64 %d6, %d2, %d6;\nld.global.u32 %r8, [%d6];\n";
  EXPECT_EQ(check(load + kUnlessNegative + kCopy + kWait + kRead).verdict, Verdict::kVerified);
  EXPECT_TRUE(hasDefect(check(load + kUnlessNegative + kCopy + "bar.sync 0;\n" + kRead)));
}

/// A loop whose number of turns is a word; `step` is the code of a turn, and %r10 its number.
std::string loop(const std::string& step) {
  return kLoad + "mov.u32 %r10, 0;\nsetp.lt.s32 %p1, %r8, 64;\n@%p1 bra END;\nshr.u32 %r11, %r8, 6;\nLOOP:\n" + step +
         "add.u32 %r10, %r10, 1;\nsetp.lt.u32 %p2, %r10, %r11;\n@%p2 bra LOOP;\n";
}

TEST(InputWords, AWordSaysHowLongALoopIs) {
  EXPECT_FALSE(hasDefect(check(loop(kCopy + kWait + kRead + "bar.sync 0;\n"))));
  EXPECT_TRUE(hasDefect(check(loop(kCopy + kWait + kRead))));
}

TEST(InputWords, AnotherWordInEachTurnKeepsTheLoopOpen) {
  const std::string next = "mul.wide.u32 %d6, %r10, 4;\nadd.u64 %d6, %d2, %d6;\nld.global.u32 %r12, [%d6+64];\n"
                           "setp.lt.s32 %p3, %r12, 0;\n@%p3 bra NEXT;\n" + kCopy + "NEXT:\n";
  const std::string by_size = "mov.u32 %r10, 0;\nsetp.eq.u32 %p1, %n, 0;\n@%p1 bra END;\nLOOP:\n" + next + kWait + kRead +
                              "bar.sync 0;\nadd.u32 %r10, %r10, 1;\nsetp.lt.u32 %p2, %r10, %n;\n@%p2 bra LOOP;\n";
  EXPECT_EQ(check(by_size).verdict, Verdict::kBounded);
  // Wrong only where two words in a row say so.
  const std::string late = "mov.u32 %r10, 0;\nmov.u32 %r14, 0;\nsetp.eq.u32 %p1, %n, 0;\n@%p1 bra END;\nLOOP:\n"
                           "mul.wide.u32 %d6, %r10, 4;\nadd.u64 %d6, %d2, %d6;\nld.global.u32 %r12, [%d6];\n" + kCopy +
                           "setp.eq.u32 %p3, %r12, 77;\nsetp.eq.u32 %p4, %r10, 40;\nand.pred %p5, %p3, %p4;\n@%p5 bra NEXT;\n"
                           "cp.async.wait_group 0;\nNEXT:\nbar.sync 0;\n" + kRead + "cp.async.wait_group 0;\nbar.sync 0;\n"
                           "add.u32 %r10, %r10, 1;\nsetp.lt.u32 %p2, %r10, %n;\n@%p2 bra LOOP;\n";
  EXPECT_NE(check(late).verdict, Verdict::kVerified);
}

TEST(InputWords, TooManyStayUnknown) {
  std::string loads;
  for (unsigned i = 0; i < 12; ++i) {
    loads += "ld.global.u32 %r8, [%d4+" + std::to_string(4096 * i) + "];\n" + kUnlessNegative;
  }
  EXPECT_EQ(check(loads + kCopy + kWait + kRead).verdict, Verdict::kBounded);
}

/// The thread's 16 bytes of `source` at %d5 are copied and 1 KiB behind them, too, and one of them is stored to.
std::string inPlace(const std::string& store) {
  return "cp.async.cg.shared.global [%r4], [%d5], 16;\ncp.async.commit_group;\n"
         "cp.async.cg.shared.global [%r4+1024], [%d5+1024], 16;\ncp.async.commit_group;\n"
         "cp.async.wait_group 1;\nbar.sync 0;\nld.shared.u32 %r9, [%r4];\n" + store + "cp.async.wait_group 0;\n";
}

TEST(GlobalDistances, FixedOnesHoldForAllInputs) {
  const std::string slot = "mul.wide.u32 %d7, %n, 4096;\nadd.u64 %d5, %d5, %d7;\n";
  EXPECT_EQ(check(slot + inPlace("st.global.u32 [%d5], %r9;\n")).verdict, Verdict::kVerified);
  const KernelReport kernel = check(slot + inPlace("st.global.u32 [%d5+1024], %r9;\n"));
  EXPECT_EQ(kernel.verdict, Verdict::kViolation);
}

TEST(GlobalDistances, OfAWordAsWell) {
  const std::string slot = kLoad + kUnlessNegative + "mul.wide.s32 %d7, %r8, 4096;\nadd.u64 %d5, %d5, %d7;\n";
  EXPECT_EQ(check(slot + inPlace("st.global.u32 [%d5], %r9;\n")).verdict, Verdict::kVerified);
  EXPECT_TRUE(hasDefect(check(slot + inPlace("st.global.u32 [%d5+1024], %r9;\n"))));
}

TEST(GlobalDistances, MovingOnesAreALimit) {
  const std::string slot = "mul.wide.u32 %d7, %n, 16;\nadd.u64 %d7, %d5, %d7;\n";
  EXPECT_EQ(check(slot + inPlace("st.global.u32 [%d7+65536], %r9;\n")).verdict, Verdict::kBounded);
}

}  // namespace
}  // namespace handoff::explore
