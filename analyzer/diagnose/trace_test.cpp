// SPDX-License-Identifier: Apache-2.0
// The steps of a witness.
#include "analyzer/diagnose/trace.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analyzer/test_support/ptx_kernel.h"

namespace handoff::diagnose {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<std::string> stepsOf(const std::string& statements, machine::Dim3 block = {64, 1, 1}) {
  const test::Ran ran = test::run(statements, {.block = block});
  std::vector<std::string> texts;
  if (ran.outcome.conflicts.empty()) return texts;
  const machine::Conflict& conflict = ran.outcome.conflicts.front();
  for (const Step& step : traceOf(ran.view(), conflict.first, conflict.second)) texts.push_back(step.text);
  return texts;
}

TEST(Trace, HoldsTheSynchronisationOfTheTwoThreadsOnly) {
  const std::string statements =
      std::string(test::kCopy) + test::kCommit + "cp.async.wait_group 1;\n" + test::kReadOwn;
  EXPECT_THAT(stepsOf(statements), ElementsAre("issues a copy into group 0", "commits group 0",
                                               "waits until at most 1 group is pending", "reads"));
}

TEST(Trace, BarrierOfTheReaderBelongsToIt) {
  const auto steps = stepsOf(std::string(test::kCopy) + test::kCommit + test::kSync + test::kReadOther);
  EXPECT_THAT(steps, ::testing::Contains("synchronises at barrier 0").Times(2));
}

TEST(Trace, PassesAreCounted) {
  const auto steps = stepsOf(
      "mov.u32 %r1, 0;\nLOOP:\nst.shared.u32 [%s+8192], %r1;\nbar.sync 0;\nadd.u32 %r1, %r1, 1;\n"
      "setp.lt.u32 %p1, %r1, 2;\n@%p1 bra LOOP;\n" +
      std::string(test::kCopy) + "bar.sync 0;\n" + test::kReadOwn);
  EXPECT_THAT(steps.back(), HasSubstr("reads"));
}

TEST(Trace, LongOnesAreCutInTheMiddle) {
  std::string statements = test::kCopy;
  for (int i = 0; i < 40; ++i) statements += test::kSync;
  const auto steps = stepsOf(statements + test::kReadOwn);
  EXPECT_LE(steps.size(), 12u);
  EXPECT_EQ(steps.front(), "issues a copy into group 0");
  EXPECT_EQ(steps.back(), "reads");
  EXPECT_THAT(steps, ::testing::Contains(HasSubstr("more steps")));
}

}  // namespace
}  // namespace handoff::diagnose
