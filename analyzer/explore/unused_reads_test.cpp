// SPDX-License-Identifier: Apache-2.0
// Which of several racing readers a finding is told by, and when there is none.
#include "analyzer/explore/unused_reads.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analyzer/explore/kernel_for_test.h"
#include "analyzer/test_support/ptx_kernel.h"

namespace handoff::explore {
namespace {

using diagnose::KernelReport;
using diagnose::Verdict;
using testing::HasSubstr;

/// The last of four warps fills a row, and after the other three have read it, once more, without waiting for them.
/// `use`: what becomes of %r5, read by warp %r3.
ptx::Module rowReadByThree(const std::string& use) {
  return std::move(*test::parseModule(R"(.version 8.8
.target sm_80
.address_size 64
.visible .entry k(.param .u64 k_param_0)
.reqntid 128, 1, 1
{
.shared .align 16 .b8 row[128];
.reg .pred %p<4>;
.reg .b32 %r<16>;
.reg .b64 %d<4>;
ld.param.u64 %d1, [k_param_0];
mov.u32 %r1, %tid.x;
and.b32 %r2, %r1, 31;
shr.u32 %r3, %r1, 5;
shl.b32 %r4, %r2, 2;
mov.u32 %r6, row;
add.u32 %r4, %r4, %r6;
setp.ne.u32 %p1, %r3, 3;
@%p1 bra READ;
st.shared.u32 [%r4], %r1;
READ:
bar.sync 0;
@%p1 bra SECOND;
st.shared.u32 [%r4], %r2;
bra END;
SECOND:
ld.shared.u32 %r5, [%r4];
)" + use + R"(
END:
ret;
}
)"));
}

KernelReport check(const std::string& use) { return reportOf(unitOf(rowReadByThree(use), {pointerField("out", 0)})); }

TEST(UnusedReads, AFindingNamesAReaderThatUsesWhatItReads) {
  for (const unsigned warp : {0u, 1u, 2u}) {
    const KernelReport kernel = check("setp.ne.u32 %p2, %r3, " + std::to_string(warp) + ";\n@%p2 bra END;\nst.global.u32 [%d1], %r5;");
    ASSERT_EQ(kernel.findings.size(), 1u) << warp;
    EXPECT_THAT(kernel.findings[0].message, HasSubstr("thread (" + std::to_string(32 * warp) + ",0,0)"));
  }
}

TEST(UnusedReads, WhatNobodyUsesIsNoFinding) {
  const KernelReport kernel = check("add.u32 %r5, %r5, 1;");
  EXPECT_TRUE(kernel.findings.empty());
  EXPECT_EQ(kernel.verdict, Verdict::kVerified);
}

TEST(UnusedReads, TheQuestionHasItsTimeWhereTheKernelHasNone) {
  const frontend::Unit unit = unitOf(rowReadByThree("add.u32 %r5, %r5, 1;"), {pointerField("out", 0)});
  Options options;
  options.max_seconds = 0;
  const std::vector<KernelReport> kernels = analyze(unit, options);
  ASSERT_EQ(kernels.size(), 1u);
  EXPECT_TRUE(kernels[0].findings.empty());
}

}  // namespace
}  // namespace handoff::explore
