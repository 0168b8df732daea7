// SPDX-License-Identifier: Apache-2.0
// Which loops of polls may be left without success, and which kernels end barriers that were in use.
#include "analyzer/machine/poll_loops.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analyzer/test_support/ptx_kernel.h"

namespace handoff::machine {
namespace {

using ::testing::HasSubstr;

constexpr const char* kPoll = "mbarrier.try_wait.parity.shared.b64 %p2, [bar], 0;\n";

std::size_t givingUp(const std::string& statements) {
  const auto module = test::parseModule(test::kernelText(statements));
  return pollsThatGiveUp(module->functions.front()).size();
}

TEST(PollLoops, ThatEndWithSuccessOnly) {
  EXPECT_EQ(givingUp("WAIT:\n" + std::string(kPoll) + "@!%p2 bra WAIT;\n"), 0u);
  EXPECT_EQ(givingUp("WAIT:\n" + std::string(kPoll) + "@%p2 bra DONE;\nbra WAIT;\nDONE:\n"), 0u);
  EXPECT_EQ(givingUp("WAIT:\n" + std::string(kPoll) +
                     "selp.u32 %r1, 1, 0, %p2;\nvote.sync.all.pred %p3, %p2, 0xffffffff;\nsetp.eq.u32 %p4, %r1, 0;\n"
                     "and.pred %p4, %p4, !%p3;\n@%p4 bra WAIT;\n"),
            0u);
}

TEST(PollLoops, ThatCount) {
  EXPECT_EQ(givingUp("mov.u32 %r1, 0;\nWAIT:\n" + std::string(kPoll) +
                     "@%p2 bra DONE;\nadd.u32 %r1, %r1, 1;\nsetp.lt.u32 %p3, %r1, 100;\n@%p3 bra WAIT;\nDONE:\n"),
            1u);
  EXPECT_EQ(givingUp("mov.u32 %r1, 0;\nWAIT:\n" + std::string(kPoll) +
                     "add.u32 %r1, %r1, 1;\nsetp.gt.u32 %p3, %r1, 100;\nor.pred %p3, %p3, %p2;\n@!%p3 bra WAIT;\n"),
            1u);
}

TEST(PollLoops, ThatTrapInsteadOfGoingOn) {
  EXPECT_EQ(givingUp("mov.u32 %r1, 0;\nWAIT:\n" + std::string(kPoll) +
                     "@%p2 bra DONE;\nadd.u32 %r1, %r1, 1;\nsetp.lt.u32 %p3, %r1, 100;\n@%p3 bra WAIT;\ntrap;\nDONE:\n"),
            0u);
}

TEST(PollLoops, ThatDoOtherThingsAreNoneOfThese) {
  EXPECT_EQ(givingUp("mov.u32 %r1, 0;\nLOOP:\n" + std::string(kPoll) +
                     "@!%p2 bra NEXT;\nld.shared.u32 %r2, [tile];\nNEXT:\nadd.u32 %r1, %r1, 1;\nsetp.lt.u32 %p3, %r1, %n;\n"
                     "@%p3 bra LOOP;\n"),
            0u);
}

TEST(PollLoops, AreLimitsOfTheProgram) {
  const std::string loop = "mov.u32 %r1, 0;\nWAIT:\n" + std::string(kPoll) +
                           "@%p2 bra DONE;\nadd.u32 %r1, %r1, 1;\nsetp.lt.u32 %p3, %r1, 100;\n@%p3 bra WAIT;\nDONE:\n";
  const auto module = test::parseModule(test::kernelText(loop));
  const Result<Program> program = buildProgram(*module, module->functions.front());
  ASSERT_TRUE(program.hasValue());
  ASSERT_EQ(program->limits.size(), 1u);
  EXPECT_THAT(program->limits[0].reason, HasSubstr("give up"));
}

TEST(BarrierReuse, WhereAnInitialisationMayFollowAUse) {
  const auto ends = [](const std::string& statements) {
    const auto module = test::parseModule(test::kernelText(statements));
    return buildProgram(*module, module->functions.front())->ends_barriers;
  };
  const std::string init = "mbarrier.init.shared.b64 [bar], 1;\n", arrive = "mbarrier.arrive.shared.b64 _, [bar];\n";
  EXPECT_FALSE(ends(init + arrive));
  EXPECT_FALSE(ends(init + "LOOP:\n" + arrive + "setp.eq.u32 %p1, %n, 0;\n@%p1 bra LOOP;\n"));
  EXPECT_TRUE(ends(init + arrive + init));
  EXPECT_TRUE(ends("LOOP:\n" + init + arrive + "setp.eq.u32 %p1, %n, 0;\n@%p1 bra LOOP;\n"));
  EXPECT_TRUE(ends(init + arrive + "mbarrier.inval.shared.b64 [bar];\n"));
}

}  // namespace
}  // namespace handoff::machine
