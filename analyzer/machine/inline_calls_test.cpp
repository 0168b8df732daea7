// SPDX-License-Identifier: Apache-2.0
// Calls become the callee's body.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analyzer/machine/address.h"
#include "analyzer/test_support/ptx_kernel.h"

namespace handoff::machine {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// func(a) = a * 3 + 1, through an early return for 5.
constexpr const char* kTriple = R"(
.func (.param .b32 result) triple(.param .b32 a)
{
.reg .b32 %x<4>;
.reg .pred %q;
ld.param.u32 %x1, [a];
setp.eq.u32 %q, %x1, 5;
@!%q bra BODY;
st.param.b32 [result], %x1;
ret;
BODY:
mad.lo.u32 %x2, %x1, 3, 1;
st.param.b32 [result], %x2;
ret;
}
)";

constexpr const char* kCallTriple = R"(
{
.param .b32 actual;
.param .b32 back;
st.param.b32 [actual], %r1;
call.uni (back), triple, (actual);
ld.param.b32 %r2, [back];
}
cvt.u64.u32 %d1, %r2;
)";

TEST(InlineCalls, ValuesComeBackByLane) {
  const test::Ran ran = test::run("mov.u32 %r1, %lane;" + std::string(kCallTriple) + test::probe("%d1"),
                                  {.functions = kTriple});
  EXPECT_THAT(test::limitsOf(ran), IsEmpty());
  const auto probes = test::probesOf(ran);
  ASSERT_EQ(probes.size(), 1u);
  EXPECT_EQ(probes[0][0], 1u);
  EXPECT_EQ(probes[0][4], 13u);
  EXPECT_EQ(probes[0][5], 5u) << "the early return";
  EXPECT_EQ(probes[0][31], 94u);
}

TEST(InlineCalls, TwoCallsDoNotShareRegisters) {
  const std::string second = R"({
.param .b32 actual2;
.param .b32 back2;
st.param.b32 [actual2], %r2;
call.uni (back2), triple, (actual2);
ld.param.b32 %r3, [back2];
}
cvt.u64.u32 %d2, %r3;
)";
  const test::Ran ran = test::run(
      "mov.u32 %r1, 2;" + std::string(kCallTriple) + second + test::probe("%d1") + test::probe("%d2"),
      {.functions = kTriple});
  const auto probes = test::probesOf(ran);
  ASSERT_EQ(probes.size(), 2u);
  EXPECT_EQ(probes[0][0], 7u);
  EXPECT_EQ(probes[1][0], 22u);
}

TEST(InlineCalls, GuardedCallRunsForItsLanesOnly) {
  const std::string statements = "setp.lt.u32 %p1, %lane, 2;\n@%p1 call.uni copies, ();\n" +
                                 std::string(test::kCommit) + test::kWait + test::kReadOwn;
  const test::Ran ran = test::run(statements, {.functions = R"(
.shared .align 16 .b8 other[64];
.func copies()
{
.reg .b32 %x<4>;
.reg .b64 %y<2>;
mov.u32 %x1, other;
mov.u32 %x2, %laneid;
mad.lo.u32 %x1, %x2, 16, %x1;
cp.async.cg.shared.global [%x1], [%y1], 16;
ret;
}
)"});
  LaneMask copying = 0;
  for (EventId id = 1; id < ran.outcome.log.end(); ++id) {
    if (ran.outcome.log[id].kind == EventKind::kCopy) copying |= ran.outcome.log[id].lanes;
  }
  EXPECT_EQ(copying, 0b11u);
  EXPECT_THAT(test::limitsOf(ran), IsEmpty());
}

TEST(InlineCalls, RecursionStaysACallAndBecomesALimit) {
  const test::Ran ran = test::run("call.uni again, ();", {.functions = R"(
.func again()
{
call.uni again, ();
ret;
}
)"});
  ASSERT_EQ(ran.outcome.limits.size(), 1u);
  EXPECT_THAT(ran.outcome.limits[0].reason, HasSubstr("the call to 'again' is not modelled"));
}

TEST(InlineCalls, FunctionWithoutBodyBecomesALimit) {
  const test::Ran ran = test::run("call.uni elsewhere, ();", {.functions = ".extern .func elsewhere();\n"});
  ASSERT_EQ(ran.outcome.limits.size(), 1u);
  EXPECT_THAT(ran.outcome.limits[0].reason, HasSubstr("'elsewhere'"));
}

TEST(InlineCalls, PrintingIsHarmless) {
  const test::Ran ran =
      test::run("{\n.param .b64 a0;\n.param .b64 a1;\n.param .b32 r0;\ncall.uni (r0), vprintf, (a0, a1);\n}",
                {.functions = ".extern .func (.param .b32 r) vprintf(.param .b64 a, .param .b64 b);\n"});
  EXPECT_THAT(test::limitsOf(ran), IsEmpty());
}

TEST(InlineCalls, BarrierInACalleeOrdersTheCaller) {
  const std::string statements =
      std::string(test::kCopy) + test::kCommit + test::kWait + "call.uni sync, ();\n" + test::kReadOther;
  EXPECT_THAT(test::rulesOf(statements,
                            {.block = {64, 1, 1}, .functions = ".func sync()\n{\nbar.sync 0;\nret;\n}\n"}),
              IsEmpty());
}

}  // namespace
}  // namespace handoff::machine
