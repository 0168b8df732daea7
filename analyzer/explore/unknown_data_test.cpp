// SPDX-License-Identifier: Apache-2.0
// Verdicts of kernels that look things up in shared memory at places that data give.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analyzer/explore/kernel_for_test.h"
#include "analyzer/test_support/ptx_kernel.h"

namespace handoff::explore {
namespace {

using diagnose::KernelReport;
using diagnose::Severity;
using diagnose::Verdict;

/// A copy into `ring` in each turn, in flight while a word of `table`, which lies before it, is looked up; %r5 is the number of
/// the turn, %r8 a word from memory.
KernelReport check(const std::string& index) {
  const std::string text = R"(.version 8.8
.target sm_80
.address_size 64
.visible .entry k(.param .u64 k_param_0, .param .u32 k_param_1, .param .u64 k_param_2)
.reqntid 32, 1, 1
{
.shared .align 16 .b8 all[2048];
.reg .pred %p<4>;
.reg .b32 %r<32>;
.reg .b64 %d<8>;
ld.param.u64 %d1, [k_param_0];
ld.param.u32 %r1, [k_param_1];
mov.u32 %r2, all;
mov.u32 %r3, %tid.x;
shl.b32 %r4, %r3, 4;
add.u32 %r4, %r4, %r2;
mov.u32 %r5, 0;
setp.lt.s32 %p1, %r1, 1;
@%p1 bra END;
LOOP:
cp.async.cg.shared.global [%r4+1024], [%d1], 16;
cp.async.commit_group;
ld.global.u32 %r8, [%d1];
)" + index + R"(
shl.b32 %r10, %r9, 2;
add.u32 %r10, %r10, %r2;
ld.shared.u32 %r11, [%r10];
add.u32 %r14, %r14, %r11;
cp.async.wait_group 0;
bar.sync 0;
add.s32 %r5, %r5, 1;
setp.lt.s32 %p2, %r5, %r1;
@%p2 bra LOOP;
END:
ld.param.u64 %d2, [k_param_2];
st.global.u32 [%d2], %r14;
ret;
}
)";
  return reportOf(unitOf(std::move(*test::parseModule(text)), {pointerField("in", 0), integerField("K", 1), pointerField("out", 2)}));
}

TEST(UnknownData, WithinTheTableIsVerified) {
  for (const char* index : {"and.b32 %r9, %r8, 255;", "min.u32 %r9, %r8, 255;", "shr.u32 %r9, %r8, 24;"}) {
    const KernelReport kernel = check(index);
    EXPECT_EQ(kernel.verdict, Verdict::kVerified) << index;
    EXPECT_TRUE(kernel.findings.empty()) << index;
  }
}

TEST(UnknownData, BeyondTheTableIsPossibleAndNeverVerified) {
  for (const char* index : {"and.b32 %r9, %r8, 511;", "min.u32 %r9, %r8, 256;"}) {
    const KernelReport kernel = check(index);
    EXPECT_EQ(kernel.verdict, Verdict::kBounded) << index;
    EXPECT_FALSE(kernel.limits.empty()) << index;
    ASSERT_FALSE(kernel.findings.empty()) << index;
    EXPECT_EQ(kernel.findings[0].severity, Severity::kPossible) << index;
    EXPECT_EQ(kernel.findings[0].rule, "missing-wait") << index;
    EXPECT_THAT(kernel.findings[0].witness.parameters,
                testing::Contains(testing::Pair(testing::StartsWith("the value"), testing::_)));
  }
}

TEST(UnknownData, InTheCopyWhereverItLeadsIsAnError) {
  // Each of the words that the copies of this turn bring.
  const KernelReport kernel = check("and.b32 %r9, %r8, 127;\nadd.u32 %r9, %r9, 256;");
  EXPECT_EQ(kernel.verdict, Verdict::kViolation);
  ASSERT_FALSE(kernel.findings.empty());
  EXPECT_EQ(kernel.findings[0].severity, Severity::kError);
  EXPECT_THAT(kernel.findings[0].message, testing::HasSubstr("wherever data not known before the launch lead"));
  EXPECT_THAT(kernel.findings[0].witness.parameters, testing::Contains(testing::Pair(testing::StartsWith("the value"), testing::_)));
  // One word beyond, or under a condition on data, it is possible.
  EXPECT_EQ(check("and.b32 %r9, %r8, 127;\nadd.u32 %r9, %r9, 257;").findings.at(0).severity, Severity::kPossible);
  const std::string guarded = "and.b32 %r9, %r8, 127;\nadd.u32 %r9, %r9, 256;\nsetp.eq.u32 %p3, %r8, 7;\n@%p3 bra SKIP;\nshl.b32 %r12, %r9, 2;\n"
                              "add.u32 %r12, %r12, %r2;\nld.shared.u32 %r13, [%r12];\nadd.u32 %r14, %r14, %r13;\nSKIP:\nmov.u32 %r9, 0;";
  EXPECT_EQ(check(guarded).findings.at(0).severity, Severity::kPossible);
}

// A closed loop stands for all its turns: what goes wrong in a late one must keep it open.
TEST(UnknownData, IndexThatMovesWithTheLoopIsNotVerified) {
  EXPECT_NE(check("and.b32 %r9, %r8, 127;\nshr.u32 %r12, %r5, 8;\nadd.u32 %r9, %r9, %r12;").verdict, Verdict::kVerified);
  EXPECT_NE(check("and.b32 %r9, %r8, 127;\nshr.u32 %r12, %r5, 20;\nshl.b32 %r12, %r12, 8;\nor.b32 %r9, %r9, %r12;").verdict, Verdict::kVerified);
}

TEST(UnknownData, IndexBoundedByAParameterIsNotVerified) {
  const KernelReport kernel = check("min.u32 %r9, %r8, %r1;");
  EXPECT_EQ(kernel.verdict, Verdict::kBounded);
  EXPECT_FALSE(kernel.limits.empty());
}

}  // namespace
}  // namespace handoff::explore
