// SPDX-License-Identifier: Apache-2.0
// What a size decides out of sight: beside data, by a pointer's window, on the stack, in a half of a parameter.
#include <gtest/gtest.h>

#include "analyzer/explore/kernel_for_test.h"
#include "analyzer/test_support/ptx_kernel.h"

namespace handoff::explore {
namespace {

using diagnose::Verdict;
using Fields = std::vector<frontend::ParamField>;

const frontend::ParamField kN = integerField("n", 2);

/// Two warps copy their rows of `buf`, run `body` and wait unless it sets %p1; then each reads a row of the other. %r1 is n,
/// %r8 a word from memory, %d1 where the thread copies from, %r4 where to, %r5 what it reads later.
Verdict check(const std::string& body, const std::string& parameter = ".param .u32 k_param_2",
              const Fields& fields = {kN}) {
  const bool is_plain = parameter == ".param .u32 k_param_2";
  const std::string text = ".version 8.8\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 k_param_0, "
                           ".param .u64 k_param_1, " + parameter + R"()
.reqntid 64, 1, 1
{
.shared .align 128 .b8 buf[1024];
.local .align 8 .b8 stack[8];
.reg .pred %p<8>;
.reg .b32 %r<32>;
.reg .b64 %d<16>;
ld.param.u64 %d1, [k_param_0];
ld.param.u64 %d2, [k_param_1];
)" + (is_plain ? "ld.param.u32 %r1, [k_param_2];\n" : "") + R"(
mov.u32 %r2, buf;
mov.u32 %r3, %tid.x;
shl.b32 %r4, %r3, 4;
cvt.u64.u32 %d3, %r4;
add.s64 %d1, %d1, %d3;
add.s64 %d2, %d2, %d3;
xor.b32 %r5, %r4, 512;
add.u32 %r4, %r4, %r2;
add.u32 %r5, %r5, %r2;
ld.global.u32 %r8, [%d2];
setp.ne.u32 %p1, %r3, %r3;
cp.async.cg.shared.global [%r4], [%d1], 16;
cp.async.commit_group;
)" + body + R"(
@%p1 bra SKIP;
cp.async.wait_group 0;
SKIP:
bar.sync 0;
ld.shared.u32 %r6, [%r5];
st.global.u32 [%d2], %r6;
ret;
}
)";
  Fields all = {pointerField("in", 0), pointerField("out", 1)};
  all.insert(all.end(), fields.begin(), fields.end());
  return reportOf(unitOf(std::move(*test::parseModule(text)), all)).verdict;
}

TEST(DecidedBySize, AKernelThatWaitsIsVerified) {
  EXPECT_EQ(check(""), Verdict::kVerified);
  EXPECT_EQ(check("setp.gt.s32 %p2, %r8, 0;\nand.pred %p1, %p1, %p2;"), Verdict::kVerified);
}

TEST(DecidedBySize, WhatASizeLetsThroughOfADatumIsOpen) {
  EXPECT_NE(check("setp.eq.s32 %p2, %r1, 777;\nsetp.gt.s32 %p3, %r8, 0;\nand.pred %p1, %p2, %p3;"), Verdict::kVerified);
  EXPECT_NE(check("setp.eq.s32 %p2, %r1, 777;\nselp.b32 %r9, %r8, 5, %p2;\nsetp.eq.s32 %p1, %r9, 12;"), Verdict::kVerified);
  EXPECT_NE(check("setp.eq.s32 %p2, %r1, 777;\nselp.b32 %r9, 3, 0, %p2;\nmul.lo.u32 %r9, %r8, %r9;\nsetp.eq.s32 %p1, %r9, 12;"),
            Verdict::kVerified);
  EXPECT_NE(check("setp.eq.s32 %p2, %r1, 777;\nmov.b32 %r9, 5;\n@%p2 mov.b32 %r9, %r8;\nsetp.eq.s32 %p1, %r9, 12;"),
            Verdict::kVerified);
}

TEST(DecidedBySize, AnAtomicOnTheSourceOfACopyIsNotSilent) {
  EXPECT_NE(check("setp.ne.s32 %p2, %r1, 777;\n@%p2 bra AFTER;\nred.global.add.u32 [%d1], 1;\nAFTER:"), Verdict::kVerified);
  EXPECT_NE(check("setp.ne.s32 %p2, %r1, 777;\n@%p2 bra AFTER;\nst.volatile.global.u32 [%d1], 1;\nAFTER:"), Verdict::kVerified);
  EXPECT_NE(check("setp.ne.s32 %p2, %r8, 777;\n@%p2 bra AFTER;\nred.global.add.u32 [%d1], 1;\nAFTER:"), Verdict::kVerified);
}

TEST(DecidedBySize, LoadsOfWhatABulkStoreWritesAreNotSilent) {
  const std::string store = "cp.async.wait_group 0;\nfence.proxy.async.shared::cta;\nbar.sync 0;\nsetp.ne.u32 %p2, %r3, 0;\n@%p2 bra LOOP;\n"
                            "cp.async.bulk.global.shared::cta.bulk_group [%d2], [%r2], 1024;\ncp.async.bulk.commit_group;\n"
                            "LOOP:\nld.volatile.global.u32 %r9, [%d2];\nsetp.gt.s32 %p3, %r9, 0;\n@%p3 bra LOOP;\n";
  EXPECT_NE(check(store + "@%p2 bra AFTER;\ncp.async.bulk.wait_group 0;\nAFTER:\nbar.sync 0;"), Verdict::kVerified);
}

TEST(DecidedBySize, ThePointersWindowIsADecision) {
  const std::string choose = "cvt.u64.u32 %d4, %r5;\ncvta.shared.u64 %d4, %d4;\nselp.b64 %d5, %d4, %d2, %p2;\nld.u32 %r9, [%d5];\n"
                             "st.global.u32 [%d2+4], %r9;\n";
  EXPECT_NE(check("setp.eq.s32 %p2, %r1, 777;\n" + choose), Verdict::kVerified);
  EXPECT_EQ(check("setp.ne.s32 %p2, %r2, %r2;\n" + choose), Verdict::kVerified);
}

TEST(DecidedBySize, AGenericStoreToTheStackKeepsTheSize) {
  const std::string load = "ld.local.u32 %r9, [stack];\nsetp.eq.s32 %p1, %r9, 77;";
  EXPECT_NE(check("mov.u64 %d4, stack;\ncvta.local.u64 %d5, %d4;\nst.u32 [%d5], %r1;\n" + load), Verdict::kVerified);
}

TEST(DecidedBySize, HalvesAndPairsOfParametersHaveTheirOwnRanges) {
  const Fields wide = {{.name = "n", .param = 2, .offset = 0, .size = 8, .kind = frontend::ParamField::Kind::kInteger}};
  EXPECT_NE(check("ld.param.u32 %r9, [k_param_2];\nsetp.eq.u32 %p1, %r9, 0x80000005;", ".param .u64 k_param_2", wide),
            Verdict::kVerified);
  const Fields pair = {{.name = "p.n", .param = 2, .offset = 0, .size = 4, .kind = frontend::ParamField::Kind::kInteger},
                       {.name = "p.m", .param = 2, .offset = 4, .size = 4, .kind = frontend::ParamField::Kind::kInteger}};
  EXPECT_NE(check("ld.param.u64 %d4, [k_param_2];\nsetp.eq.s64 %p1, %d4, 4294967296005;", ".param .align 8 .b8 k_param_2[8]", pair),
            Verdict::kVerified);
}

// The second pointer is null in some calls of the kernel.
TEST(DecidedBySize, BothCasesOfAPointerThatIsComparedWithNullAreRun) {
  const std::string load = "ld.param.u64 %d7, [k_param_1];\ncvta.to.global.u64 %d8, %d7;\n";
  EXPECT_EQ(check(load + "setp.eq.s64 %p1, %d7, 0;"), Verdict::kViolation);
  EXPECT_EQ(check(load + "setp.eq.u64 %p1, %d8, 0;"), Verdict::kViolation);
  EXPECT_EQ(check(load + "setp.ne.b64 %p1, 0, %d7;"), Verdict::kViolation);
  EXPECT_EQ(check(load + "setp.eq.s64 %p2, %d7, 0;\n@%p2 bra AFTER;\nst.global.u32 [%d8], 1;\nAFTER:"), Verdict::kVerified);
  // A wait that is made in both cases, by one branch or the other.
  EXPECT_EQ(check(load + "setp.eq.s64 %p2, %d7, 0;\n@%p2 bra AFTER;\ncp.async.wait_group 0;\nAFTER:\n@!%p2 bra BOTH;\n"
                         "cp.async.wait_all;\nBOTH:\nsetp.ne.u32 %p1, %r3, 9999;"),
            Verdict::kVerified);
}

TEST(DecidedBySize, WhatElseGoesByAPointerIsALimit) {
  EXPECT_EQ(check("setp.eq.s64 %p1, %d2, 0;"), Verdict::kBounded);  // the pointer and an offset
  EXPECT_EQ(check("ld.param.u64 %d7, [k_param_1];\nsetp.lt.u64 %p1, %d7, 4096;"), Verdict::kBounded);
  EXPECT_EQ(check("ld.param.u64 %d7, [k_param_1];\n@%p1 mov.b64 %d7, 0;\nsetp.eq.u64 %p1, %d7, 0;"), Verdict::kBounded);
}

}  // namespace
}  // namespace handoff::explore
