// SPDX-License-Identifier: Apache-2.0
// Programs that ask for more than any GPU has, or for more time than is left: little of both, and a reason.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <chrono>

#include "analyzer/machine/program.h"
#include "analyzer/ptx/parser.h"
#include "analyzer/support/thread_clock.h"
#include "analyzer/test_support/async_kernel.h"

namespace handoff::machine {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

std::string whyNoProgram(const std::string& declarations) {
  const auto module = test::parseModule(test::kernelText("", {.declarations = declarations}));
  const Result<Program> program = buildProgram(*module, *module->findFunction("k"));
  return program ? "" : program.error().message;
}

long peakInMiB() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss >> 10;
}

TEST(Limits, VariablesBeyondAnyGpu) {
  EXPECT_EQ(whyNoProgram(".shared .b8 x[100000];\n"), "");
  EXPECT_THAT(whyNoProgram(".shared .b8 x[1099511627776];\n"), HasSubstr("bytes of shared memory, more than any GPU has"));
  EXPECT_THAT(whyNoProgram(".const .b8 x[1099511627776];\n"), HasSubstr("bytes of constant memory"));
  EXPECT_EQ(whyNoProgram(".local .b8 x[524288];\n"), "");
  EXPECT_THAT(whyNoProgram(".local .b8 x[1099511627776];\n"), HasSubstr("bytes of local memory"));
}

TEST(Limits, ParametersBeyondAnyGpu) {
  const Result<ptx::Module> module = ptx::parse(
      ".version 8.8\n.target sm_90a\n.address_size 64\n.visible .entry k(.param .b8 x[4294967304])\n{\nret;\n}\n", "a.ptx");
  ASSERT_TRUE(module.hasValue());
  const Result<Program> program = buildProgram(*module, module->functions.front());
  ASSERT_FALSE(program.hasValue());
  EXPECT_THAT(program.error().message, HasSubstr("bytes of parameter memory"));
}

// Found by fuzz_executor: the global end of such a copy was followed byte by byte.
TEST(Limits, BulkCopiesOfFourGigabytes) {
  for (const char* copy :
       {"cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [tile], [%in], 4294967280, [bar];\n",
        "cp.async.bulk.global.shared::cta.bulk_group [%out], [tile], 4294967280;\n"}) {
    const test::Ran ran = test::run(test::initBarriers({1}) + copy);
    EXPECT_THAT(test::limitsOf(ran), Contains(HasSubstr("outside of what the launch gives"))) << copy;
  }
  EXPECT_LT(peakInMiB(), 1024);
}

// Found by fuzz_executor: the time was looked at every 16384 instructions, however long each of them took.
TEST(Limits, TimeOfHeavyInstructions) {
  const std::string statements = "AGAIN:\ncp.async.bulk.global.shared::cta.bulk_group [%out], [tile], 16384;\nbra.uni AGAIN;\n";
  test::Setup setup;
  setup.options.max_seconds = 0.2;
  const ThreadClock::time_point before = ThreadClock::now();
  const test::Ran ran = test::run(statements, setup);
  EXPECT_LT(ThreadClock::now() - before, std::chrono::seconds(10));
  EXPECT_THAT(test::limitsOf(ran), Contains(HasSubstr("the run was stopped after")));
}

TEST(Limits, CallsThatDouble) {
  std::string functions;
  for (unsigned i = 0; i < 40; ++i) {
    const std::string call = i == 0 ? "" : "call f" + std::to_string(i - 1) + ";\n";
    functions += ".func f" + std::to_string(i) + "()\n{\n" + call + call + "ret;\n}\n";
  }
  const auto module = test::parseModule(test::kernelText("call f39;\n", {.functions = functions}));
  const Result<Program> program = buildProgram(*module, *module->findFunction("k"));
  ASSERT_TRUE(program.hasValue());
  EXPECT_LT(program->function.instructions.size(), 100'000u);
}

}  // namespace
}  // namespace handoff::machine
