// SPDX-License-Identifier: Apache-2.0
// Accumulators and A fragments: what compilers make of correct code must pass, the plain mistakes must not.
#include "analyzer/machine/register_hazards.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "analyzer/test_support/ptx_kernel.h"

namespace handoff::machine {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr const char* kFence = "wgmma.fence.sync.aligned;\n";
constexpr const char* kCommit = "wgmma.commit_group.sync.aligned;\n";
constexpr const char* kWait0 = "wgmma.wait_group.sync.aligned 0;\n";
constexpr const char* kWait1 = "wgmma.wait_group.sync.aligned 1;\n";
constexpr const char* kStore = "st.global.f32 [%out], %f0;\n";

std::string mma(const std::string& accumulators = "{%f0,%f1,%f2,%f3}") {
  return "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 " + accumulators + ", %d0, %d1, 1, 1, 1, 0, 0;\n";
}
std::string mmaWithA(const std::string& accumulators = "{%f0,%f1,%f2,%f3}",
                     const std::string& a = "{%r0,%r1,%r2,%r3}") {
  return "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 " + accumulators + ", " + a +
         ", %d1, 1, 1, 1, 0;\n";
}

/// Hazards in words: "no fence: <access> -> <mma>" or "use before wait: <mma> -> <access>", each instruction by its
/// opcode's first word and its line in `statements`, from 1.
std::vector<std::string> hazards(const std::string& statements) {
  const auto module = test::parseModule(test::kernelText(statements));
  const ptx::Function& function = module->functions.front();
  const std::string text = test::kernelText(statements);
  const std::string before = text.substr(0, text.find(statements));
  const auto line_of_first = static_cast<std::uint32_t>(std::ranges::count(before, '\n'));
  const auto name = [&](std::uint32_t index) {
    const ptx::Instruction& instr = function.instructions[index];
    return instr.opcode.substr(0, instr.opcode.find('.')) + " " + std::to_string(instr.ptx_line - line_of_first);
  };
  std::vector<std::string> words;
  for (const RegisterHazard& hazard : findRegisterHazards(function)) {
    words.push_back(hazard.kind == RegisterHazard::Kind::kNoFence
                        ? "no fence: " + name(hazard.access_instr) + " -> " + name(hazard.mma_instr)
                        : "use before wait: " + name(hazard.mma_instr) + " -> " + name(hazard.access_instr));
  }
  return words;
}

TEST(RegisterHazards, FunctionsWithoutWgmmaHaveNone) { EXPECT_THAT(hazards("bar.sync 0;"), IsEmpty()); }

TEST(RegisterHazards, FenceChainCommitWaitUse) {
  EXPECT_THAT(hazards(kFence + mma() + mma() + mma() + mma() + kCommit + kWait0 + kStore), IsEmpty());
}

TEST(RegisterHazards, FirstMultiplicationNeedsAFence) {
  EXPECT_THAT(hazards(mma() + mma() + kCommit + kWait0 + kStore), ElementsAre("no fence: wgmma 1 -> wgmma 1"));
}

TEST(RegisterHazards, FenceOnOnePathIsNotEnough) {
  EXPECT_THAT(hazards(std::string("@%p0 bra SKIP;\n") + kFence + "SKIP:\n" + mma() + kCommit + kWait0),
              ElementsAre("no fence: wgmma 4 -> wgmma 4"));
}

TEST(RegisterHazards, ScaledAccumulatorNeedsANewFence) {
  const std::string head = kFence + mma() + kCommit + kWait0 + "mul.f32 %f0, %f0, %f4;\n";
  EXPECT_THAT(hazards(head + mma() + kCommit + kWait0), ElementsAre("no fence: mul 5 -> wgmma 6"));
  EXPECT_THAT(hazards(head + kFence + mma() + kCommit + kWait0), IsEmpty());
}

TEST(RegisterHazards, ReadingBetweenTwoMultiplicationsNeedsNoFence) {
  EXPECT_THAT(hazards(kFence + mma() + kCommit + kWait0 + kStore + mma() + kCommit + kWait0 + kStore), IsEmpty());
}

TEST(RegisterHazards, FenceOfTheLoopCoversWhatItsEndWrites) {
  const std::string tail = mma() + kCommit + kWait0 + "mul.f32 %f0, %f0, %f4;\n@%p0 bra LOOP;\n";
  EXPECT_THAT(hazards(std::string("LOOP:\n") + kFence + tail), IsEmpty());
  EXPECT_THAT(hazards(std::string(kFence) + "LOOP:\n" + tail), ElementsAre("no fence: mul 6 -> wgmma 3"));
}

TEST(RegisterHazards, FragmentOfAWrittenBehindTheFence) {
  EXPECT_THAT(hazards(std::string("cvt.rn.f16x2.f32 %r0, %f8, %f9;\n") + kFence + mmaWithA() + kCommit + kWait0),
              IsEmpty());
  EXPECT_THAT(hazards(std::string(kFence) + "cvt.rn.f16x2.f32 %r0, %f8, %f9;\n" + mmaWithA() + kCommit + kWait0),
              ElementsAre("no fence: cvt 2 -> wgmma 3"));
}

TEST(RegisterHazards, OneFindingForEachMissingFence) {
  EXPECT_THAT(hazards(std::string(kFence) + "add.u32 %r0, %r8, %r9;\nadd.u32 %r4, %r8, %r9;\n" + mmaWithA() +
                      mmaWithA("{%f0,%f1,%f2,%f3}", "{%r4,%r5,%r6,%r7}") + kCommit + kWait0),
              ElementsAre("no fence: add 2 -> wgmma 4"));
}

TEST(RegisterHazards, ConstantsMayBePlacedBehindTheFence) {
  EXPECT_THAT(hazards(std::string(kFence) + "mov.f32 %f0, 0f00000000;\nmov.f32 %f1, %f0;\n" + mma() + kCommit + kWait0),
              IsEmpty());
}

TEST(RegisterHazards, CopyOfAValueOlderThanTheFence) {
  EXPECT_THAT(hazards(std::string("mul.f32 %f8, %f8, %f9;\n") + kFence + "mov.f32 %f0, %f8;\n" + mma() + kCommit +
              kWait0),
              IsEmpty());
  EXPECT_THAT(hazards(std::string(kFence) + "mul.f32 %f8, %f8, %f9;\nmov.f32 %f0, %f8;\n" + mma() + kCommit + kWait0),
              ElementsAre("no fence: mul 2 -> wgmma 4"));
}

TEST(RegisterHazards, OnlyOneShapeChains) {
  const std::string other =
      "wgmma.mma_async.sync.aligned.m64n8k8.f32.tf32.tf32 {%f0,%f1,%f2,%f3}, %d0, %d1, 1, 1, 1;\n";
  EXPECT_THAT(hazards(kFence + mma() + other + kCommit + kWait0), ElementsAre("no fence: wgmma 2 -> wgmma 3"));
  EXPECT_THAT(hazards(kFence + mma() + kFence + other + kCommit + kWait0), IsEmpty());
}

TEST(RegisterHazards, UseBeforeTheWait) {
  EXPECT_THAT(hazards(kFence + mma() + kStore + kCommit + kWait0), ElementsAre("use before wait: wgmma 2 -> st 3"));
  EXPECT_THAT(hazards(kFence + mma() + kCommit + kStore + kWait0), ElementsAre("use before wait: wgmma 2 -> st 4"));
  EXPECT_THAT(hazards(kFence + mma() + kCommit + "add.f32 %f5, %f4, %f1;\n" + kWait0),
              ElementsAre("use before wait: wgmma 2 -> add 4"));
}

TEST(RegisterHazards, WaitWithoutCommitRetiresNothing) {
  EXPECT_THAT(hazards(kFence + mma() + kWait0 + kStore), ElementsAre("use before wait: wgmma 2 -> st 4"));
}

TEST(RegisterHazards, WaitLeavesTheNewestGroupsPending) {
  const std::string first = kFence + mma() + kCommit;
  EXPECT_THAT(hazards(first + kWait1 + kStore), ElementsAre("use before wait: wgmma 2 -> st 5"));
  const std::string both = first + mma("{%f4,%f5,%f6,%f7}") + kCommit + kWait1;
  EXPECT_THAT(hazards(both + kStore), IsEmpty());
  EXPECT_THAT(hazards(both + "st.global.f32 [%out], %f4;\n"), ElementsAre("use before wait: wgmma 4 -> st 7"));
  EXPECT_THAT(hazards(first + kCommit + kWait1 + kStore), IsEmpty()) << "empty groups count";
}

TEST(RegisterHazards, LaterMultiplicationOfTheChainCounts) {
  EXPECT_THAT(hazards(kFence + mma() + kCommit + mma() + kCommit + kWait1 + kStore),
              ElementsAre("use before wait: wgmma 4 -> st 7"));
}

TEST(RegisterHazards, OneFindingForEachMultiplication) {
  EXPECT_THAT(hazards(kFence + mma() + kCommit + kStore + "st.global.f32 [%out], %f1;\n" + kWait0),
              ElementsAre("use before wait: wgmma 2 -> st 4"));
}

TEST(RegisterHazards, MissingWaitSeenInTheNextTurn) {
  const std::string loop = "LOOP:\nadd.f32 %f8, %f8, %f0;\n" + (kFence + mma()) + kCommit;
  EXPECT_THAT(hazards(loop + "@%p0 bra LOOP;\n" + kWait0), ElementsAre("use before wait: wgmma 4 -> add 2"));
  EXPECT_THAT(hazards(loop + kWait0 + "@%p0 bra LOOP;\n"), IsEmpty());
}

TEST(RegisterHazards, MissingWaitOnOnePath) {
  EXPECT_THAT(hazards(kFence + mma() + kCommit + "@%p0 bra SKIP;\n" + kWait0 + "SKIP:\n" + kStore),
              ElementsAre("use before wait: wgmma 2 -> st 7"));
}

// The main loop of CUTLASS: one group stays in flight over the back edge.
TEST(RegisterHazards, LoopThatWaitsOneGroupLate) {
  EXPECT_THAT(hazards(kFence + mma() + kCommit + "@%p1 bra TAIL;\nLOOP:\n" + kFence + "INNER:\n" + mma() +
                      "@%p2 bra INNER;\n" + kCommit + kWait1 + "@%p0 bra LOOP;\nTAIL:\n" + kWait0 + kStore),
              IsEmpty());
}

TEST(RegisterHazards, CopiesOfAnAccumulatorInFlightAreInFlight) {
  // As nvcc prints a bit cast of the result: before the commit.
  const std::string head = kFence + mma() + "mov.b32 %r8, %f0;\n" + kCommit;
  EXPECT_THAT(hazards(head + kWait0 + "st.global.u32 [%out], %r8;\n"), IsEmpty());
  EXPECT_THAT(hazards(head + "st.global.u32 [%out], %r8;\n" + kWait0), ElementsAre("use before wait: wgmma 2 -> st 5"));
  // Halves, pairs and choices of it, too.
  const std::string unpack = kFence + mma() + kCommit + "mov.b32 %r8, %f0;\nmov.b32 {%h0, %h1}, %r8;\n";
  EXPECT_THAT(hazards(unpack + kWait0 + "st.global.u16 [%out], %h1;\n"), IsEmpty());
  EXPECT_THAT(hazards(unpack + "st.global.u16 [%out], %h1;\n" + kWait0),
              ElementsAre("use before wait: wgmma 2 -> st 6"));
  const std::string pack = kFence + mma() + kCommit + "mov.b64 %d8, {%f8, %f1};\nselp.b64 %d9, 0, %d8, %p0;\n";
  EXPECT_THAT(hazards(pack + kWait0 + "st.global.u64 [%out], %d9;\n"), IsEmpty());
  EXPECT_THAT(hazards(pack + "st.global.u64 [%out], %d9;\n" + kWait0), ElementsAre("use before wait: wgmma 2 -> st 6"));
}

TEST(RegisterHazards, GuardedCopyMayKeepTheOldValue) {
  EXPECT_THAT(hazards(kFence + mma() + kCommit + "@%p0 mov.f32 %f0, 0f00000000;\n" + kStore + kWait0),
              ElementsAre("use before wait: wgmma 2 -> st 5"));
  EXPECT_THAT(hazards(kFence + mma() + kCommit + "mov.f32 %f0, 0f00000000;\n" + kStore + kWait0), IsEmpty());
}

// As Clang prints an attention loop: the name of A is given to the next probabilities while A is still read.
TEST(RegisterHazards, NewValueUnderTheNameOfOneInFlight) {
  EXPECT_THAT(hazards(std::string("LOOP:\n") + kFence + mma("{%f4,%f5,%f6,%f7}") + kCommit + mmaWithA() + kCommit +
              kWait1 +
                      "ex2.approx.f32 %f8, %f4;\ncvt.rn.f16x2.f32 %r0, %f8, %f8;\n" + kWait0 +
                      "mul.f32 %f0, %f0, %f8;\n@%p0 bra LOOP;\n"),
              IsEmpty());
}

TEST(RegisterHazards, StackTrafficIsNoAccess) {
  EXPECT_THAT(hazards(kFence + mma() + "st.local.f32 [%d8], %f0;\n" + kCommit + "ld.local.f32 %f1, [%d8];\n" + mma() +
                      kCommit + kWait0),
              IsEmpty());
}

TEST(RegisterHazards, AccumulatorAsTheFragmentOfTheNext) {
  const std::string half = "wgmma.mma_async.sync.aligned.m64n8k16.f16.f16.f16 {%r0,%r1}, %d0, %d1, 1, 1, 1, 0, 0;\n";
  const std::string head = kFence + half + kCommit;
  EXPECT_THAT(hazards(head + kWait0 + kFence + mmaWithA() + kCommit + kWait0), IsEmpty());
  EXPECT_THAT(hazards(head + kFence + mmaWithA() + kCommit + kWait0),
              ElementsAre("use before wait: wgmma 2 -> wgmma 5"));
  EXPECT_THAT(hazards(head + kWait0 + mmaWithA() + kCommit + kWait0), ElementsAre("no fence: wgmma 2 -> wgmma 5"));
}

}  // namespace
}  // namespace handoff::machine
