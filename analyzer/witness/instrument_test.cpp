// SPDX-License-Identifier: Apache-2.0
// What is inserted must be PTX: it parses again, and where ptxas is installed, it assembles. A correct kernel
// stays correct.
#include "analyzer/witness/instrument.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "analyzer/machine/address.h"
#include "analyzer/ptx/parser.h"
#include "analyzer/test_support/async_kernel.h"
#include "analyzer/witness/job.h"

namespace handoff::witness {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

/// Index of the first instruction whose opcode starts so.
std::uint32_t find(const machine::Program& program, std::string_view opcode) {
  for (std::uint32_t i = 0; i < program.function.instructions.size(); ++i) {
    if (program.function.instructions[i].opcode.starts_with(opcode)) return i;
  }
  ADD_FAILURE() << "no " << opcode;
  return 0;
}

std::string textWith(const test::Ran& ran, Instrumentation added) {
  ptx::Module module = *ran.module;
  return ptx::print(module, {added.header, ran.program.function.name, added.entry, added.before});
}

bool hasPtxas() { return std::system("ptxas --version > /dev/null 2>&1") == 0; }

void expectAssembles(const std::string& text, const std::string& arch) {
  if (!hasPtxas()) return;
  const std::string path = testing::TempDir() + "handoff_" + std::to_string(getpid()) + ".ptx";
  std::ofstream(path) << text;
  EXPECT_EQ(std::system(("ptxas -arch=" + arch + " " + path + " -o /dev/null").c_str()), 0) << text;
  std::filesystem::remove(path);
}

/// Parses again, has no finding of its own when run, and assembles.
void expectHarmless(const std::string& text, const test::Setup& setup, const std::string& arch) {
  const Result<ptx::Module> again = ptx::parse(text, "again.ptx");
  ASSERT_TRUE(again) << toString(again.error()) << "\n" << text;
  const test::Ran ran = test::runModule(text, setup);
  EXPECT_THAT(test::rulesOf(ran), IsEmpty()) << text;
  expectAssembles(text, arch);
}

const std::string kRightCopy =
    std::string(test::kCopy) + test::kCommit + test::kWait + test::kSync + test::kReadOther;
const test::Setup kTwoWarps{.block = {64, 1, 1}};

TEST(Instrument, DelaysAWarpInOneTurn) {
  const test::Ran ran = test::run(kRightCopy, kTwoWarps);
  Instrumenter to(ran.program);
  to.delay({find(ran.program, "ld.shared"), {Actors::Who::kWarp, 1}, 2});
  const std::string text = textWith(ran, to.take());
  EXPECT_THAT(text, HasSubstr("%clock64"));
  EXPECT_THAT(text, HasSubstr("%handoff_pass1"));
  ASSERT_TRUE(ptx::parse(text, "again.ptx"));
  expectAssembles(text, "sm_90a");
}

TEST(Instrument, DelayNamesTheBlockOfTheCluster) {
  const test::Ran ran = test::run(kRightCopy, {.block = {64, 1, 1}, .cluster = {2, 1, 1}});
  Instrumenter to(ran.program);
  to.delay({find(ran.program, "cp.async.cg"), {Actors::Who::kWarp, 0, 1, true}});
  const std::string text = textWith(ran, to.take());
  EXPECT_THAT(text, HasSubstr("%cluster_ctarank"));
  ASSERT_TRUE(ptx::parse(text, "again.ptx"));
  expectAssembles(text, "sm_90a");
}

TEST(Instrument, PoisonsTheSlotOfACopy) {
  const test::Ran ran = test::run(kRightCopy, kTwoWarps);
  Instrumenter to(ran.program);
  ASSERT_TRUE(to.poison(find(ran.program, "cp.async.cg"), 0));
  expectHarmless(textWith(ran, to.take()), kTwoWarps, "sm_90a");
}

TEST(Instrument, PoisonsTheSlotOfABulkCopy) {
  const std::string right = test::initBarriers({1}) +
                            test::byThread(0, test::expect(1024) + test::load(0, 1024)) + test::waitFor(0) +
                            test::readAt(0);
  const test::Ran ran = test::run(right, kTwoWarps);
  Instrumenter to(ran.program);
  ASSERT_TRUE(to.poison(find(ran.program, "cp.async.bulk.shared"), 0));
  expectHarmless(textWith(ran, to.take()), kTwoWarps, "sm_90a");
}

TEST(Instrument, FloodsBeforeABulkStore) {
  const std::string right = std::string(test::kWriteOwn) + test::kProxyFence + test::kSync +
                            test::byThread(0, test::store(0, 512) + test::kBulkCommit + test::kBulkWait);
  const test::Ran ran = test::run(right, kTwoWarps);
  Instrumenter to(ran.program);
  ASSERT_TRUE(to.floodStores(find(ran.program, "cp.async.bulk.global")));
  EXPECT_FALSE(to.poison(find(ran.program, "cp.async.bulk.global"), 0)) << "its destination is no slot";
  const std::string text = textWith(ran, to.take());
  EXPECT_THAT(text, HasSubstr("handoff_host"));
  ASSERT_TRUE(ptx::parse(text, "again.ptx"));
  expectAssembles(text, "sm_90a");
}

TEST(Instrument, StoresBeforeAStore) {
  const std::string right = std::string(test::kWriteOwn) + test::kSync + test::kReadOther;
  const test::Ran ran = test::run(right, kTwoWarps);
  for (const ptx::Space space : {ptx::Space::kShared, ptx::Space::kGlobal}) {
    Instrumenter to(ran.program);
    ASSERT_TRUE(to.conflictingStores({find(ran.program, "st.shared")}, space, 8));
    const std::string text = textWith(ran, to.take());
    ASSERT_TRUE(ptx::parse(text, "again.ptx"));
    expectAssembles(text, "sm_90a");
  }
}

TEST(Instrument, DelaysAllWarpsButOne) {
  const test::Ran ran = test::run(kRightCopy, {.block = {64, 1, 1}, .cluster = {2, 1, 1}});
  for (const Actors::Who who : {Actors::Who::kOthers, Actors::Who::kOddWarps, Actors::Who::kAll}) {
    Instrumenter to(ran.program);
    to.delay({find(ran.program, "ld.shared"), {who, 1, 1, true}, 1});
    const std::string text = textWith(ran, to.take());
    EXPECT_EQ(text.find("setp.eq.and.u32") != std::string::npos, who == Actors::Who::kOthers);
    ASSERT_TRUE(ptx::parse(text, "again.ptx"));
    expectAssembles(text, "sm_90a");
  }
}

TEST(Instrument, QueuesCopiesBeforeACopy) {
  const std::string right = std::string(test::kWriteOwn) + test::kProxyFence + test::kSync +
                            test::byThread(0, test::store(0, 512) + test::kBulkCommit + test::kBulkWait);
  const test::Ran ran = test::run(right, kTwoWarps);
  Instrumenter to(ran.program);
  ASSERT_TRUE(to.queueCopies({find(ran.program, "cp.async.bulk.global"), {}, 1}));
  EXPECT_FALSE(to.queueCopies({find(ran.program, "st.shared")}));
  const std::string text = textWith(ran, to.take());
  EXPECT_THAT(text, HasSubstr("handoff_queue[16384]"));
  ASSERT_TRUE(ptx::parse(text, "again.ptx"));
  expectAssembles(text, "sm_90a");
}

TEST(Instrument, LeavesAnOldBarrier) {
  const std::string right = test::initBarriers({1}) +
                            test::byThread(0, test::expect(1024) + test::load(0, 1024)) + test::waitFor(0) +
                            test::readAt(0);
  const test::Ran ran = test::run(right, kTwoWarps);
  for (const bool is_over : {true, false}) {
    Instrumenter to(ran.program);
    ASSERT_TRUE(to.staleBarrier(find(ran.program, "mbarrier.init"), is_over));
    EXPECT_FALSE(to.staleBarrier(find(ran.program, "mbarrier.try_wait"), is_over));
    const std::string text = textWith(ran, to.take());
    ASSERT_TRUE(ptx::parse(text, "again.ptx"));
    expectAssembles(text, "sm_90a");
  }
}

TEST(Instrument, WhatHasNoPlaceIsRefused) {
  const test::Ran ran = test::run(kRightCopy, kTwoWarps);
  Instrumenter to(ran.program);
  EXPECT_FALSE(to.floodStores(find(ran.program, "cp.async.cg")));
  EXPECT_FALSE(to.poison(find(ran.program, "ld.shared"), 0));
  EXPECT_FALSE(to.queueMultiplications({find(ran.program, "cp.async.cg")}));
  EXPECT_FALSE(to.prefetchMap(find(ran.program, "cp.async.cg")));
  EXPECT_TRUE(to.take().isEmpty());
}

TEST(Plan, EveryFindingHasThePlainKernel) {
  const test::Ran ran =
      test::run(std::string(test::kCopy) + test::kCommit + test::kSync + test::kReadOther, kTwoWarps);
  const std::vector<diagnose::Diagnosis> all = ran.diagnoses();
  ASSERT_THAT(all, SizeIs(1));
  const std::vector<Variant> variants = variantsFor(all[0], ran.program, ran.launch);
  ASSERT_GE(variants.size(), 4u);
  EXPECT_EQ(variants[0].name, "plain");
  EXPECT_EQ(variants[1].name, "host-poison");
  EXPECT_TRUE(variants[1].has_host_sources);
}

TEST(Plan, ControlsAreDisturbedEverywhere) {
  const test::Ran ran = test::run(kRightCopy, kTwoWarps);
  std::vector<std::string> names;
  for (const Variant& variant : controlVariants(ran.program, ran.launch, {})) {
    names.push_back(variant.name);
    const std::string text = textWith(ran, variant.added);
    EXPECT_TRUE(ptx::parse(text, "again.ptx")) << variant.name;
    expectAssembles(text, "sm_90a");
  }
  for (const char* name : {"plain", "delay-read-first", "delay-read-odd", "delay-copy-last",
                           "delay-wait-first", "delay-barrier-odd", "host", "poison", "neighbour"})
    EXPECT_THAT(names, testing::Contains(name));
  EXPECT_THAT(names, Not(testing::Contains("stale-over"))) << "there is no mbarrier";
}

TEST(Job, ControlHasNoEvents) {
  const test::Ran ran = test::run(kRightCopy, kTwoWarps);
  diagnose::Diagnosis nothing;
  nothing.finding.rule = "none";
  const std::vector<Parameter> parameters = {
      {.param = 0, .size = 8, .kind = Parameter::Kind::kPointer, .name = "in"}};
  const diagnose::WitnessJob job =
      makeJob({ran.program, ran.launch, nothing, parameters, nullptr, /*is_control=*/true});
  EXPECT_TRUE(job.manifest["is_control"].boolean());
  EXPECT_TRUE(job.manifest["events"].isNull());
  EXPECT_THAT(job.manifest["variants"].array(), testing::SizeIs(testing::Gt(8u)));
}

TEST(Job, AssumedBoxBecomesAMap) {
  const test::Ran ran =
      test::run(std::string(test::kCopy) + test::kCommit + test::kSync + test::kReadOther, kTwoWarps);
  std::vector<diagnose::Diagnosis> all = ran.diagnoses();
  ASSERT_THAT(all, SizeIs(1));
  const std::vector<Parameter> parameters = {
      {.param = 0, .size = 128, .kind = Parameter::Kind::kTensorMap, .name = "map"}};
  EXPECT_TRUE(makeJob({ran.program, ran.launch, all[0], parameters})
                  .manifest["arguments"]
                  .array()[0]["map"]
                  .isNull());
  all[0].assumed_boxes[machine::kParamWindow + ran.program.param_offset[0]] = 8192;
  const diagnose::WitnessJob job = makeJob({ran.program, ran.launch, all[0], parameters});
  const json::Value map = job.manifest["arguments"].array()[0]["map"];
  std::int64_t bytes = map["element_bytes"].integer();
  for (const json::Value& extent : map["box"].array()) bytes *= extent.integer();
  EXPECT_EQ(bytes, 8192);
  EXPECT_THAT(map["box"].array(), SizeIs(2));
  EXPECT_TRUE(map["is_guess"].boolean());
}

TEST(Job, HoldsKernelsArgumentsAndEvents) {
  const test::Ran ran =
      test::run(std::string(test::kCopy) + test::kCommit + test::kSync + test::kReadOther, kTwoWarps);
  const std::vector<diagnose::Diagnosis> all = ran.diagnoses();
  ASSERT_THAT(all, SizeIs(1));
  const std::vector<Parameter> parameters = {
      {.param = 0, .size = 8, .kind = Parameter::Kind::kPointer, .name = "in"},
      {.param = 2, .size = 4, .name = "n", .value = 7}};
  const diagnose::WitnessJob job = makeJob({ran.program, ran.launch, all[0], parameters});
  EXPECT_EQ(job.manifest["rule"].text(), "barrier-only-handoff");
  EXPECT_EQ(job.manifest["reference"].text(), "self");
  EXPECT_EQ(job.manifest["arguments"].array()[0]["kind"].text(), "buffer");
  EXPECT_EQ(job.manifest["arguments"].array()[1]["bytes"].text(), "04000000")
      << "the launch comes before the assumption";
  EXPECT_THAT(job.manifest["events"].array(), SizeIs(2));
  for (const json::Value& variant : job.manifest["variants"].array()) {
    const auto file = job.files.find(variant["base"].text());
    ASSERT_NE(file, job.files.end());
    EXPECT_TRUE(ptx::parse(file->second, file->first));
    expectAssembles(file->second, "sm_90a");
  }
}

}  // namespace
}  // namespace handoff::witness
