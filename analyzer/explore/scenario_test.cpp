// SPDX-License-Identifier: Apache-2.0
// Where launches come from, and what is assumed when they say nothing.
#include "analyzer/explore/scenario.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analyzer/explore/analyze.h"
#include "analyzer/machine/address.h"
#include "analyzer/test_support/ptx_kernel.h"

namespace handoff::explore {
namespace {

using frontend::KernelDecl;
using frontend::ParamField;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr const char* kKernel = R"(.version 8.8
.target sm_80
.address_size 64
.extern .shared .align 16 .b8 ring[];
.visible .entry k(.param .u64 k_param_0, .param .u32 k_param_1)
{
.reg .pred %p<4>;
.reg .b32 %r<8>;
.reg .b64 %d<8>;
ld.param.u64 %d1, [k_param_0];
ld.param.u32 %r1, [k_param_1];
mov.u32 %r2, ring;
LOOP:
cp.async.ca.shared.global [%r2], [%d1], 4;
cp.async.wait_all;
sub.u32 %r1, %r1, 1;
setp.gt.s32 %p1, %r1, 0;
@%p1 bra LOOP;
ret;
}
)";

class ScenarioTest : public ::testing::Test {
 protected:
  ScenarioTest() {
    unit_.file = "k.cu";
    unit_.module = std::move(*test::parseModule(kKernel));
    decl_.name = "k";
    decl_.pos = {"k.cu", 20, 1};
    decl_.fields = {{.name = "in", .param = 0, .offset = 0, .size = 8, .kind = ParamField::Kind::kPointer},
                    {.name = "K", .param = 1, .offset = 0, .size = 4, .kind = ParamField::Kind::kInteger}};
    unit_.kernels.push_back(decl_);
  }

  std::vector<Scenario> scenarios() {
    const Result<machine::Program> program =
        machine::buildProgram(unit_.module, unit_.module.functions.front());
    EXPECT_TRUE(program.hasValue());
    if (program) program_ = *program;
    return scenariosFor(unit_, &decl_, program_, options_);
  }
  Scenario only() {
    auto list = scenarios();
    EXPECT_THAT(list, SizeIs(1));
    return list.empty() ? Scenario{} : list.front();
  }
  static std::vector<std::string> assumptions(const Scenario& scenario) {
    std::vector<std::string> texts;
    for (const diagnose::Limit& limit : scenario.assumptions) texts.push_back(limit.reason);
    return texts;
  }
  static frontend::LaunchSite site() {
    frontend::LaunchSite launch;
    launch.kernel = "k";
    launch.pos = {"main.cu", 7, 3};
    launch.grid = {16, 1, 1};
    launch.block = {256, 1, 1};
    launch.dynamic_smem = 4096;
    launch.arguments = {{.param = 1, .offset = 0, .size = 4, .value = 12}};
    return launch;
  }

  frontend::Unit unit_;
  KernelDecl decl_;
  machine::Program program_;
  Options options_;
};

TEST_F(ScenarioTest, WithoutAnySourceEverythingIsAssumedAndNamed) {
  const Scenario scenario = only();
  EXPECT_EQ(scenario.launch.threads(), 128u);
  EXPECT_EQ(scenario.launch.dynamic_shared_bytes, 163u * 1024);
  EXPECT_THAT(assumptions(scenario), ElementsAre(HasSubstr("block size"), HasSubstr("dynamic shared memory")));
  ASSERT_EQ(scenario.integers.size(), 1u);
  EXPECT_TRUE(scenario.integers[0].is_free);
  EXPECT_THAT(scenario.names.parameters,
              ElementsAre(std::pair<std::string, std::string>("K", "512 (assumed)")));
  EXPECT_EQ(scenario.assumptions[0].pos.line, 20u);
}

TEST_F(ScenarioTest, LaunchSiteFixesWhatItFolds) {
  unit_.launches = {site()};
  const Scenario scenario = only();
  EXPECT_THAT(assumptions(scenario), IsEmpty());
  EXPECT_EQ(scenario.text, "grid=(16,1,1) block=(256,1,1) smem=4096 K=12 (main.cu:7)");
  EXPECT_EQ(scenario.launch.param_bytes[8], 12);
}

TEST_F(ScenarioTest, WhatASiteDoesNotFoldIsFree) {
  unit_.launches = {site()};
  unit_.launches[0].arguments.clear();
  const Scenario scenario = only();
  EXPECT_THAT(assumptions(scenario), IsEmpty());
  ASSERT_EQ(scenario.integers.size(), 1u);
  EXPECT_TRUE(scenario.integers[0].is_free);
  EXPECT_THAT(scenario.text, HasSubstr("K=any"));
}

TEST_F(ScenarioTest, APointerGivenAsZeroIsNull) {
  options_.launches = {"block=32 grid=1 in=0 K=4"};
  const Scenario scenario = only();
  EXPECT_THAT(scenario.names.buffers, IsEmpty());
  for (int i = 0; i < 8; ++i) {
    EXPECT_EQ(scenario.launch.param_bytes[i], 0);
    EXPECT_TRUE(scenario.launch.param_known[i]);
  }
  EXPECT_THAT(scenario.text, HasSubstr("in=0 K=4"));
  EXPECT_THAT(holdsFor(freed(scenario), program_), Contains("in = 0")) << "it stays null";
  options_.launches = {"block=32 grid=1 K=4"};
  EXPECT_THAT(only().names.buffers, SizeIs(1));
}

TEST_F(ScenarioTest, SitesOfOtherKernelsDoNotCount) {
  unit_.launches = {site()};
  unit_.launches[0].kernel = "other";
  EXPECT_EQ(only().launch.threads(), 128u);
}

TEST_F(ScenarioTest, EqualSitesAreOneScenario) {
  unit_.launches = {site(), site()};
  EXPECT_THAT(scenarios(), SizeIs(1));
  unit_.launches[1].block = {128, 1, 1};
  EXPECT_THAT(scenarios(), SizeIs(2));
}

TEST_F(ScenarioTest, CommentAboveTheKernelBeatsLaunchSites) {
  unit_.launches = {site()};
  unit_.comments = {{{"k.cu", 18, 1}, "// handoff: launch block=64 grid=2x3 smem=1024 K=5"}};
  const Scenario scenario = only();
  EXPECT_EQ(scenario.launch.threads(), 64u);
  EXPECT_EQ(scenario.launch.grid, (machine::Dim3{2, 3, 1}));
  EXPECT_EQ(scenario.launch.dynamic_shared_bytes, 1024u);
  EXPECT_EQ(scenario.launch.param_bytes[8], 5);
  EXPECT_THAT(assumptions(scenario), IsEmpty());
  EXPECT_THAT(scenario.text, HasSubstr("(k.cu:18)"));
}

TEST_F(ScenarioTest, CommentFarAwayOrBelowDoesNotSpeakOfTheKernel) {
  unit_.comments = {{{"k.cu", 3, 1}, "// handoff: launch block=64"},
                    {{"k.cu", 25, 1}, "// handoff: launch block=32"},
                    {{"other.h", 18, 1}, "// handoff: launch block=96"}};
  EXPECT_EQ(only().launch.threads(), 128u);
}

TEST_F(ScenarioTest, TwoCommentsAreTwoLaunches) {
  unit_.comments = {{{"k.cu", 17, 1}, "// handoff: launch block=64"},
                    {{"k.cu", 18, 1}, "// handoff: launch block=32"}};
  EXPECT_THAT(scenarios(), SizeIs(2));
}

TEST_F(ScenarioTest, OptionsBeatEverything) {
  unit_.comments = {{{"k.cu", 18, 1}, "// handoff: launch block=64"}};
  options_.launches = {"block=32x2 K=9"};
  const Scenario scenario = only();
  EXPECT_EQ(scenario.launch.block, (machine::Dim3{32, 2, 1}));
  EXPECT_EQ(scenario.launch.param_bytes[8], 9);
}

TEST_F(ScenarioTest, ParametersOfPtxGoByTheirNumbers) {
  options_.launches = {"block=32 grid=1 smem=64 param1=9"};
  const Result<machine::Program> program = machine::buildProgram(unit_.module, unit_.module.functions.front());
  ASSERT_TRUE(program.hasValue());
  const std::vector<Scenario> known = scenariosFor(unit_, nullptr, *program, options_);
  ASSERT_THAT(known, SizeIs(1));
  EXPECT_EQ(known[0].launch.param_bytes[8], 9);
  EXPECT_THAT(assumptions(known[0]), IsEmpty());
  options_.launches = {"block=32 grid=1 smem=64 K=9"};
  EXPECT_THAT(assumptions(scenariosFor(unit_, nullptr, *program, options_)[0]), ElementsAre(HasSubstr("no parameter 'K'")));
}

TEST_F(ScenarioTest, LaunchBoundIsABetterGuessThanTheDefault) {
  unit_.module.functions.front().limits.max_ntid = std::array<std::uint32_t, 3>{96, 1, 1};
  const Scenario scenario = only();
  EXPECT_EQ(scenario.launch.threads(), 96u);
  EXPECT_THAT(assumptions(scenario), Contains(HasSubstr("launch bound")));
}

TEST_F(ScenarioTest, RequiredBlockSizeIsNoAssumption) {
  unit_.module.functions.front().limits.req_ntid = std::array<std::uint32_t, 3>{192, 1, 1};
  EXPECT_EQ(only().launch.threads(), 192u);
  EXPECT_THAT(assumptions(only()), ::testing::Not(Contains(HasSubstr("block"))));
}

TEST_F(ScenarioTest, PointersAreBuffersOfTheirOwn) {
  const Scenario scenario = only();
  std::uint64_t word = 0;
  for (unsigned i = 0; i < 8; ++i) word |= std::uint64_t{scenario.launch.param_bytes[i]} << (8 * i);
  EXPECT_EQ(word, machine::bufferBase(0));
  EXPECT_EQ(scenario.names.buffers.at(0), "in");
}

TEST(KernelNames, InternalLinkageMakesNoDifference) {
  EXPECT_TRUE(isSameKernel("_ZL1kv", "_Z1kv"));
  EXPECT_FALSE(isSameKernel("_Z1kv", "_Z1ki"));
}

// --- whole reports ---

std::vector<diagnose::KernelReport> analyzed(const std::string& statements, const Options& options = {}) {
  frontend::Unit unit;
  unit.file = "test.ptx";
  unit.module = std::move(*test::parseModule(test::kernelText(statements)));
  return analyze(unit, options);
}

Options launch(const char* text) {
  Options options;
  options.launches = {text};
  return options;
}

TEST(Analyze, CleanKernelWithAKnownLaunchIsVerified) {
  const auto reports = analyzed(std::string(test::kCopy) + test::kCommit + test::kWait + test::kReadOwn,
                                launch("block=64 grid=1 smem=0"));
  ASSERT_THAT(reports, SizeIs(1));
  EXPECT_EQ(reports[0].verdict, diagnose::Verdict::kVerified);
  EXPECT_TRUE(reports[0].has_async);
  EXPECT_GT(reports[0].warp_instructions, 0u);
}

TEST(Analyze, AssumedBlockSizeBoundsTheVerdict) {
  const auto reports = analyzed(std::string(test::kCopy) + test::kCommit + test::kWait + test::kReadOwn);
  EXPECT_EQ(reports.at(0).verdict, diagnose::Verdict::kBounded);
  EXPECT_FALSE(reports.at(0).limits.empty());
}

TEST(Analyze, FindingIsAViolationWithARepair) {
  const auto reports = analyzed(std::string(test::kCopy) + test::kCommit + test::kReadOwn +
                                    "st.global.u32 [%out], %r60;\n" + test::kWait,
                                launch("block=64 grid=1 smem=0"));
  EXPECT_EQ(reports.at(0).verdict, diagnose::Verdict::kViolation);
  ASSERT_THAT(reports[0].findings, SizeIs(1));
  EXPECT_TRUE(reports[0].findings[0].repair.has_value());
}

TEST(Analyze, ReadWhoseValueIsDroppedIsNoFinding) {
  // The software pipeline's load of a step that never comes.
  const auto reports = analyzed(std::string(test::kCopy) + test::kCommit +
                                    "ld.shared.u32 %r1, [%s];\nmov.u32 %r2, %r1;\n" + test::kWait,
                                launch("block=64 grid=1 smem=0"));
  EXPECT_THAT(reports.at(0).findings, IsEmpty());
}

TEST(Analyze, ReadWhoseValueIsStoredIsOne) {
  const auto reports =
      analyzed(std::string(test::kCopy) + test::kCommit +
                   "ld.shared.u32 %r1, [%s];\nmov.u32 %r2, %r1;\nst.global.u32 [%out], %r2;\n" + test::kWait,
               launch("block=64 grid=1 smem=0"));
  EXPECT_THAT(reports.at(0).findings, SizeIs(1));
}

TEST_F(ScenarioTest, LaunchThatNoChipTakesIsNamedAndNotCut) {
  unit_.launches = {site()};
  unit_.launches[0].block = {2000, 1, 1};
  EXPECT_THAT(assumptions(only()), Contains(HasSubstr("a block of (2000,1,1) threads cannot be launched")));
  unit_.launches[0].block = {0, 1, 1};
  EXPECT_THAT(assumptions(only()), Contains(HasSubstr("a block of (0,1,1) threads cannot be launched")));
  unit_.launches[0].block = {1024, 1, 1};
  unit_.launches[0].dynamic_smem = 300'000;
  EXPECT_THAT(assumptions(only()), ElementsAre(HasSubstr("300000 bytes of dynamic shared memory cannot be launched")));
}

TEST(Analyze, BlockThatCannotBeLaunchedIsALimit) {
  EXPECT_EQ(analyzed("bar.sync 0;", launch("block=1024x2")).at(0).verdict, diagnose::Verdict::kBounded);
}

TEST(Analyze, FilterLeavesOtherKernelsOut) {
  Options options;
  options.kernel_filter = "nothing";
  EXPECT_THAT(analyzed("bar.sync 0;", options), IsEmpty());
}

TEST(Analyze, KernelThatThePtxLacksIsAnError) {
  frontend::Unit unit;
  unit.kernels.push_back({.name = "gone", .pretty = "gone()", .pos = {"k.cu", 3, 1}});
  const auto reports = analyze(unit, {});
  ASSERT_THAT(reports, SizeIs(1));
  EXPECT_EQ(reports[0].verdict, diagnose::Verdict::kError);
}

TEST(Analyze, MissingClobberIsANoteOnTheLineOfTheAssembly) {
  frontend::Unit unit;
  unit.module =
      std::move(*test::parseModule(".version 8.8\n.target sm_80\n.address_size 64\n.file 1 "
                                   "\"k.cu\"\n.visible .entry k()\n{\n.loc 1 7 3\ncp.async.wait_all;\n"
                                   ".loc 1 9 3\nbar.sync 0;\nret;\n}\n"));
  unit.asm_facts = {
      {.pos = {"k.cu", 7, 3}, .text = "cp.async.wait_all;", .is_volatile = true, .has_memory_clobber = false},
      {.pos = {"k.cu", 9, 3}, .text = "bar.sync 0;", .is_volatile = true, .has_memory_clobber = true}};
  const auto reports = analyze(unit, launch("block=64 grid=1 smem=0"));
  ASSERT_THAT(reports.at(0).findings, SizeIs(1));
  EXPECT_EQ(reports[0].findings[0].rule, "missing-clobber");
  EXPECT_EQ(reports[0].findings[0].stack.front().pos.line, 7u);
  EXPECT_EQ(reports[0].verdict, diagnose::Verdict::kVerified) << "a note does not change the verdict";
}

}  // namespace
}  // namespace handoff::explore
