// SPDX-License-Identifier: Apache-2.0
// Whether the value of a read goes anywhere.
#include "analyzer/machine/used_reads.h"

#include <gtest/gtest.h>

#include "analyzer/test_support/ptx_kernel.h"

namespace handoff::machine {
namespace {

/// Whether the value of the first read of warp 0 is used.
bool isUsed(const std::string& statements, std::uint32_t pass = 1) {
  const test::Ran ran = test::run(statements);
  const Result<Program> whole = buildWholeProgram(*ran.module, *ran.module->findFunction("k"));
  EXPECT_TRUE(whole.hasValue());
  if (!whole) return false;
  for (EventId id = 1; id < ran.outcome.log.end(); ++id) {
    const Event& event = ran.outcome.log[id];
    if (event.kind != EventKind::kRead || event.pass != pass) continue;
    const ReadInstance read{event.warp, ran.program.ops[event.op].instr, event.pass};
    return usedReads(*whole, ran.launch, {}, {{read}}).at(0);
  }
  ADD_FAILURE() << "no read";
  return false;
}

TEST(UsedReads, DroppedValueIsNotUsed) { EXPECT_FALSE(isUsed("ld.shared.u32 %r1, [%s];")); }

TEST(UsedReads, MovesAloneAreNoUse) { EXPECT_FALSE(isUsed("ld.shared.u32 %r1, [%s];\nmov.u32 %r2, %r1;")); }

TEST(UsedReads, ArithmeticAloneIsNoUse) {
  EXPECT_FALSE(isUsed("ld.shared.f32 %f1, [%s];\nadd.f32 %f2, %f1, %f1;\nmul.f32 %f3, %f2, %f2;"));
  EXPECT_FALSE(isUsed("ld.shared.u32 %r1, [%s];\nand.b32 %r2, %r1, 7;\nsetp.eq.u32 %p1, %r2, 0;"));
}

TEST(UsedReads, StoreBehindArithmeticIsAUse) {
  EXPECT_TRUE(isUsed("ld.shared.f32 %f1, [%s];\nadd.f32 %f2, %f1, %f1;\nst.global.f32 [%out], %f2;"));
  EXPECT_TRUE(isUsed("ld.shared.u32 %r1, [%s];\nmov.u32 %r3, 0;\nadd.u32 %r3, %r3, %r1;\nadd.u32 %r3, %r3, 1;\n"
                     "st.global.u32 [%out], %r3;"));
}

TEST(UsedReads, AddressAndConditionBehindArithmeticAreUses) {
  const std::string load = "ld.shared.u32 %r1, [%s];\n";
  EXPECT_TRUE(isUsed(load + "and.b32 %r1, %r1, 60;\nadd.u32 %r1, %r1, %s;\nld.shared.u32 %r2, [%r1];"));
  EXPECT_TRUE(isUsed(load + "add.u32 %r2, %r1, 1;\nsetp.eq.u32 %p1, %r2, 0;\n@%p1 bra OUT;\nst.global.u32 [%out], 1;\nOUT:\nret;"));
}

TEST(UsedReads, BranchAroundArithmeticChoosesAValue) {
  const std::string choice =
      "ld.shared.u32 %r1, [%s];\nmov.u32 %r3, 0;\nsetp.eq.u32 %p1, %r1, 0;\n@%p1 bra OUT;\nadd.u32 %r3, %r3, 1;\nOUT:\n";
  EXPECT_FALSE(isUsed(choice + "mov.u32 %r4, 1;\nst.global.u32 [%out], %r4;")) << "nobody asks for it";
  EXPECT_FALSE(isUsed(choice + "mov.u32 %r3, 2;\nst.global.u32 [%out], %r3;")) << "nor for this one";
  EXPECT_TRUE(isUsed(choice + "st.global.u32 [%out], %r3;")) << "it says whether 0 or 1 is stored";
}

TEST(UsedReads, TheSideThatIsRunLastDoesNotHideTheOther) {
  EXPECT_TRUE(isUsed("ld.shared.u32 %r1, [%s];\nld.global.u32 %r2, [%out];\nsetp.eq.u32 %p1, %r2, 0;\n@%p1 bra ELSE;\n"
                     "mov.u32 %r3, %r1;\nbra OUT;\nELSE:\nmov.u32 %r3, 0;\nOUT:\nst.global.u32 [%out], %r3;"));
  EXPECT_TRUE(isUsed("ld.shared.u32 %r1, [%s];\nld.global.u32 %r2, [%out];\nsetp.eq.u32 %p1, %r2, 0;\n@!%p1 bra ELSE;\n"
                     "mov.u32 %r3, %r1;\nbra OUT;\nELSE:\nmov.u32 %r3, 0;\nOUT:\nst.global.u32 [%out], %r3;"));
}

TEST(UsedReads, LoopThatGoesByTheValueIsAUse) {
  EXPECT_TRUE(isUsed("ld.shared.u32 %r1, [%s];\nLOOP:\nsub.u32 %r1, %r1, 1;\nsetp.gt.u32 %p1, %r1, 0;\n@%p1 bra LOOP;"));
}

TEST(UsedReads, ShuffleIsAUse) {
  EXPECT_TRUE(isUsed("ld.shared.u32 %r1, [%s];\nshfl.sync.idx.b32 %r2, %r1, 3, 31, 0xffffffff;"));
}

TEST(UsedReads, StoreIsAUse) { EXPECT_TRUE(isUsed("ld.shared.u32 %r1, [%s];\nst.global.u32 [%out], %r1;")); }

TEST(UsedReads, StoreBehindAMoveIsAUse) {
  EXPECT_TRUE(isUsed("ld.shared.u32 %r1, [%s];\nmov.u32 %r2, %r1;\nst.global.u32 [%out], %r2;"));
}

TEST(UsedReads, OneElementOfAVectorIsEnough) {
  EXPECT_TRUE(isUsed("ld.shared.v4.u32 {%r1, %r2, %r3, %r4}, [%s];\nst.global.u32 [%out], %r3;"));
}

TEST(UsedReads, OverwrittenRegisterIsNotUsed) {
  EXPECT_FALSE(isUsed("ld.shared.u32 %r1, [%s];\nmov.u32 %r1, 0;\nst.global.u32 [%out], %r1;"));
}

TEST(UsedReads, OverwritingSomeLanesLeavesTheOthers) {
  EXPECT_TRUE(
      isUsed("ld.shared.u32 %r1, [%s];\nsetp.eq.u32 %p1, %lane, 0;\n@%p1 mov.u32 %r1, 0;\nst.global.u32 "
             "[%out], %r1;"));
}

TEST(UsedReads, GuardIsAUse) {
  EXPECT_TRUE(isUsed("ld.shared.u32 %r1, [%s];\nsetp.eq.u32 %p1, %r1, 0;\n@%p1 st.global.u32 [%out], %r2;"));
}

TEST(UsedReads, GuardOfArithmeticChoosesAValue) {
  const std::string choice = "ld.shared.u32 %r1, [%s];\nmov.u32 %r3, 0;\nsetp.eq.u32 %p1, %r1, 0;\n@%p1 mov.u32 %r3, 1;\n";
  EXPECT_FALSE(isUsed(choice));
  EXPECT_TRUE(isUsed(choice + "st.global.u32 [%out], %r3;"));
  EXPECT_TRUE(isUsed("ld.shared.f32 %f1, [%s];\nmov.f32 %f3, %f1;\nsetp.eq.f32 %p1, %f2, 0f00000000;\n"
                     "@%p1 mov.f32 %f3, 0f00000000;\nst.global.f32 [%out], %f3;")) << "the old value, where it does not hold";
}

TEST(UsedReads, LastStepOfASoftwarePipelineIsDropped) {
  const std::string loop =
      "mov.u32 %r5, 0;\nld.shared.u32 %r1, [%s];\nLOOP:\nmov.u32 %r2, %r1;\nld.shared.u32 %r1, [%s+512];\n"
      "st.global.u32 [%out], %r2;\nadd.u32 %r5, %r5, 1;\nsetp.lt.u32 %p1, %r5, 3;\n@%p1 bra LOOP;\n";
  EXPECT_TRUE(isUsed(loop, 2));
  EXPECT_FALSE(isUsed(loop, 3));
}

TEST(UsedReads, RunThatDoesNotEndAnswersUsed) {
  EXPECT_TRUE(isUsed("ld.shared.u32 %r1, [%s];\nbar.sync 1, 64;"));
}

}  // namespace
}  // namespace handoff::machine
