// SPDX-License-Identifier: Apache-2.0
// Where the cluster of a launch comes from.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analyzer/explore/scenario.h"
#include "analyzer/test_support/ptx_kernel.h"

namespace handoff::explore {
namespace {

using machine::Dim3;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr const char* kClusterBarrier = "barrier.cluster.arrive;\nbarrier.cluster.wait;\n";

class ClusterTest : public ::testing::Test {
 protected:
  ClusterTest() {
    decl_.name = "k";
    decl_.pos = {"k.cu", 20, 1};
  }

  Scenario scenario(const std::string& statements) {
    unit_.module = std::move(*test::parseModule(test::kernelText(statements)));
    for (ptx::Function& function : unit_.module.functions) function.limits.req_cluster = required_;
    const Result<machine::Program> program =
        machine::buildProgram(unit_.module, unit_.module.functions.back());
    if (!program) {
      ADD_FAILURE() << toString(program.error());
      return {};
    }
    return scenariosFor(unit_, &decl_, *program, options_).front();
  }
  std::vector<std::string> assumptions(const std::string& statements) {
    std::vector<std::string> texts;
    for (const diagnose::Limit& limit : scenario(statements).assumptions) texts.push_back(limit.reason);
    return texts;
  }
  void launchWithCluster(std::int64_t x) {
    frontend::LaunchSite site;
    site.kernel = "k";
    site.pos = {"main.cu", 7, 3};
    site.grid = {8, 1, 1};
    site.block = {64, 1, 1};
    site.cluster = {x, 1, 1};
    unit_.launches = {site};
  }

  frontend::Unit unit_;
  frontend::KernelDecl decl_;
  std::optional<Dim3> required_;
  Options options_;
};

TEST_F(ClusterTest, PlainKernelsHaveNone) {
  EXPECT_EQ(scenario("bar.sync 0;").launch.cluster, (Dim3{1, 1, 1}));
  EXPECT_THAT(scenario("bar.sync 0;").text, Not(HasSubstr("cluster")));
}

TEST_F(ClusterTest, LaunchTextOfTheCommandLineAndOfComments) {
  options_.launches = {"block=64 grid=4 cluster=2x1 smem=0"};
  EXPECT_EQ(scenario("bar.sync 0;").launch.cluster, (Dim3{2, 1, 1}));
  EXPECT_THAT(scenario("bar.sync 0;").text, HasSubstr("grid=(4,1,1) block=(64,1,1) cluster=(2,1,1) smem=0"));
  options_.launches.clear();
  unit_.comments = {{{"k.cu", 19, 1}, "// handoff: launch cluster=2x2 block=64 grid=4x4"}};
  EXPECT_EQ(scenario("bar.sync 0;").names.launch, "grid=(4,4,1) block=(64,1,1) cluster=(2,2,1) smem=0");
}

TEST_F(ClusterTest, AttributeOfTheLaunchSite) {
  launchWithCluster(4);
  EXPECT_EQ(scenario(kClusterBarrier).launch.cluster, (Dim3{4, 1, 1}));
  EXPECT_THAT(assumptions(kClusterBarrier), Not(Contains(HasSubstr("cluster"))));
}

TEST_F(ClusterTest, WhatTheKernelRequiresBindsEveryLaunch) {
  launchWithCluster(4);
  decl_.cluster_dims = {2, 1, 1};
  EXPECT_EQ(scenario("bar.sync 0;").launch.cluster, (Dim3{2, 1, 1}));
  required_ = Dim3{8, 1, 1};
  EXPECT_EQ(scenario("bar.sync 0;").launch.cluster, (Dim3{8, 1, 1}));
}

TEST_F(ClusterTest, KernelThatNeedsOneGetsOneAssumed) {
  for (const char* text :
       {kClusterBarrier, "mapa.shared::cluster.u32 %r1, %s, 1;\nld.shared::cluster.u32 %r2, [%r1];\n",
        "st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [%s], %r1, [%s];\n"}) {
    EXPECT_EQ(scenario(text).launch.cluster, (Dim3{2, 1, 1})) << text;
    EXPECT_THAT(assumptions(text), Contains("no launch fixes the cluster size: (2,1,1) is assumed")) << text;
  }
}

TEST_F(ClusterTest, BulkLoadIntoOneBlockNeedsNone) {
  const char* const text =
      "mov.u32 %r1, bar;\ncp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%s], [%g], 16, "
      "[%r1];\n";
  EXPECT_EQ(scenario(text).launch.cluster, (Dim3{1, 1, 1}));
  EXPECT_THAT(assumptions(text), Not(Contains(HasSubstr("cluster"))));
}

TEST_F(ClusterTest, GridIsRoundedUpToWholeClusters) {
  options_.launches = {"block=64 grid=5x3 cluster=2x1"};
  EXPECT_EQ(scenario("bar.sync 0;").launch.grid, (Dim3{6, 3, 1}));
  EXPECT_THAT(assumptions("bar.sync 0;"), Contains(HasSubstr("no multiple of the cluster: (6,3,1)")));
  options_.launches = {"block=64 grid=6x3 cluster=2x1"};
  EXPECT_THAT(assumptions("bar.sync 0;"), IsEmpty());
}

TEST_F(ClusterTest, ClusterThatCannotBeLaunchedIsNamed) {
  options_.launches = {"block=64 grid=64 cluster=64"};
  EXPECT_EQ(scenario("bar.sync 0;").launch.cluster, (Dim3{1, 1, 1}));
  EXPECT_THAT(assumptions("bar.sync 0;"), ElementsAre(HasSubstr("cannot be launched")));
}

}  // namespace
}  // namespace handoff::explore
