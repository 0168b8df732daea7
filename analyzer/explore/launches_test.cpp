// SPDX-License-Identifier: Apache-2.0
// Verdicts of kernels with several launches, and what is found for sizes that none of them has.
#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analyzer/explore/kernel_for_test.h"
#include "analyzer/test_support/ptx_kernel.h"

namespace handoff::explore {
namespace {

using diagnose::Finding;
using diagnose::KernelReport;
using diagnose::Severity;
using diagnose::Verdict;

/// One launch of 64 threads for each of `sizes`; the statements find n in %r1, the thread in %r2, its slot in `all` in %r4 and
/// that of a thread of the other warp in %r5, and whether n is 777 in %p1.
KernelReport check(const std::string& statements, const std::vector<std::int64_t>& sizes) {
  const std::string text = R"(.version 8.3
.target sm_90
.address_size 64
.visible .entry k(.param .u64 k_param_0, .param .u32 k_param_1)
.reqntid 64, 1, 1
{
.shared .align 16 .b8 all[1024];
.shared .align 8 .b8 gate[8];
.reg .pred %p<4>;
.reg .b32 %r<16>;
.reg .b64 %d<8>;
ld.param.u64 %d1, [k_param_0];
ld.param.u32 %r1, [k_param_1];
setp.eq.s32 %p1, %r1, 777;
mov.u32 %r2, %tid.x;
setp.eq.s32 %p2, %r2, 0;
mov.u32 %r3, all;
shl.b32 %r4, %r2, 4;
xor.b32 %r5, %r4, 512;
add.u32 %r4, %r4, %r3;
add.u32 %r5, %r5, %r3;
)" + statements + R"(
ret;
}
)";
  frontend::Unit unit = unitOf(std::move(*test::parseModule(text)), {pointerField("in", 0), integerField("n", 1)});
  for (const std::int64_t size : sizes) {
    frontend::LaunchSite site;
    site.kernel = "k";
    site.grid = {1, 1, 1};
    site.block = {64, 1, 1};
    site.arguments = {{.param = 1, .offset = 0, .size = 4, .value = size}};
    unit.launches.push_back(site);
  }
  return reportOf(unit);
}

/// The wait is left out for n = 777.
constexpr const char* kUnwaited = R"(cp.async.cg.shared.global [%r4], [%d1], 16;
cp.async.commit_group;
@%p1 bra NEXT;
cp.async.wait_group 0;
NEXT:
bar.sync 0;
ld.shared.u32 %r6, [%r5];
st.global.u32 [%d1], %r6;)";

bool hasOther(const KernelReport& kernel) {
  return std::any_of(kernel.findings.begin(), kernel.findings.end(), [](const Finding& f) { return f.is_for_other_launches; });
}

TEST(Launches, WhatNoLaunchShowsIsForOthers) {
  const KernelReport kernel = check(kUnwaited, {5});
  EXPECT_EQ(kernel.verdict, Verdict::kVerified);
  EXPECT_TRUE(hasOther(kernel));
  EXPECT_THAT(kernel.holds_for, testing::Contains("n = 5"));
}

TEST(Launches, TheWrongOneIsFoundInAnyPlace) {
  for (const std::vector<std::int64_t>& sizes : {std::vector<std::int64_t>{777, 5}, {5, 777}, {5, 6, 777}}) {
    const KernelReport kernel = check(kUnwaited, sizes);
    EXPECT_EQ(kernel.verdict, Verdict::kViolation);
    const auto isUnwaited = [](const Finding& f) { return f.rule == "barrier-only-handoff" && f.severity == Severity::kError; };
    EXPECT_EQ(std::count_if(kernel.findings.begin(), kernel.findings.end(), isUnwaited), 1);
    EXPECT_FALSE(hasOther(kernel));
  }
}

TEST(Launches, SeveralRightOnesProveNothingForOthers) {
  const KernelReport kernel = check(kUnwaited, {5, 6});
  EXPECT_EQ(kernel.verdict, Verdict::kVerified);
  EXPECT_THAT(kernel.holds_for, testing::Not(testing::Contains("all n >= 0")));
}

// More turns than a run may have: a proof for all sizes says as much of them.
TEST(Launches, ALongRunIsMadeForNothingElse) {
  const KernelReport kernel = check(R"(mov.u32 %r6, 0;
LOOP:
cp.async.cg.shared.global [%r4], [%d1], 16;
cp.async.commit_group;
cp.async.wait_group 0;
bar.sync 0;
ld.shared.u32 %r8, [%r5];
add.u32 %r9, %r9, %r8;
bar.sync 0;
add.s32 %r6, %r6, 1;
setp.lt.s32 %p3, %r6, %r1;
@%p3 bra LOOP;)", {1'000'000});
  EXPECT_EQ(kernel.verdict, Verdict::kVerified);
  EXPECT_THAT(kernel.holds_for, testing::Contains("all n >= 0"));
  EXPECT_LT(kernel.warp_instructions, 1'000'000u);
}

// The launch's own second initialisation is idle, a note; for n = 777 an arrival is outstanding.
TEST(Launches, ANoteDoesNotHideTheErrorOfOthers) {
  const KernelReport kernel = check(R"(@!%p2 bra NEXT;
mbarrier.init.shared::cta.b64 [gate], 2;
@!%p1 bra IDLE;
mbarrier.arrive.shared::cta.b64 _, [gate];
IDLE:
mbarrier.init.shared::cta.b64 [gate], 64;
NEXT:
bar.sync 0;
mbarrier.arrive.shared::cta.b64 _, [gate];
WAIT:
mbarrier.try_wait.parity.shared::cta.b64 %p3, [gate], 0;
@!%p3 bra WAIT;)", {5});
  EXPECT_THAT(kernel.holds_for, testing::Not(testing::Contains("all n >= 0")));
  EXPECT_TRUE(hasOther(kernel));
}

// The launch's own arrivals run ahead of the phases; only others read too early, and nothing follows from that.
TEST(Launches, CausesOfOthersExcuseNothing) {
  const KernelReport kernel = check(R"(@!%p2 bra READY;
mbarrier.init.shared::cta.b64 [gate], 64;
READY:
bar.sync 0;
mbarrier.arrive.shared::cta.b64 _, [gate];
mbarrier.arrive.shared::cta.b64 _, [gate];
WAIT:
mbarrier.try_wait.parity.shared::cta.b64 %p3, [gate], 1;
@!%p3 bra WAIT;
)" + std::string(kUnwaited), {5});
  EXPECT_EQ(kernel.verdict, Verdict::kViolation);
  EXPECT_TRUE(hasOther(kernel));
}

}  // namespace
}  // namespace handoff::explore
