// SPDX-License-Identifier: Apache-2.0
// Time as a share of the compiler's.
#include "analyzer/explore/shared_time.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analyzer/explore/kernel_for_test.h"
#include "analyzer/test_support/ptx_kernel.h"

namespace handoff::explore {
namespace {

using ::testing::HasSubstr;

TEST(SharedTime, WhatAKernelLeavesIsForThoseAfterIt) {
  SharedTime time(6, 3);
  EXPECT_EQ(time.part(), 2);
  time.take(1);
  EXPECT_EQ(time.part(), 2.5);
  time.take(4);
  EXPECT_EQ(time.part(), 1);
  time.take(2);
  EXPECT_EQ(time.part(), 0) << "more was taken than there was";
}

diagnose::KernelReport reportWithin(double share, double compiler_seconds, frontend::Producer producer) {
  const std::string statements = std::string(test::kCopy) + test::kCommit + test::kWait + test::kSync + test::kReadOther;
  frontend::Unit unit = unitOf(std::move(*test::parseModule(test::kernelText(statements))), {});
  unit.producer = producer;
  unit.produce_processor_seconds = compiler_seconds;
  Options options;
  options.launches = {"block=64 grid=1"};
  options.max_share = share;
  std::vector<diagnose::KernelReport> reports = analyze(unit, options);
  EXPECT_EQ(reports.size(), 1u);
  return std::move(reports.at(0));
}

TEST(SharedTime, WhatNeedsMoreThanItsShareIsBounded) {
  const diagnose::KernelReport report = reportWithin(1, 1e-9, frontend::Producer::kClang);
  EXPECT_EQ(report.verdict, diagnose::Verdict::kBounded);
  EXPECT_TRUE(report.is_cut_short) << "another time it may be verified, so it is not kept";
  ASSERT_FALSE(report.limits.empty());
  EXPECT_THAT(report.limits.back().reason, HasSubstr("the budget of time was used up"));
}

TEST(SharedTime, WithoutAShareOrACompilerThereIsNoSuchLimit) {
  EXPECT_EQ(reportWithin(0, 1e-9, frontend::Producer::kClang).verdict, diagnose::Verdict::kVerified);
  EXPECT_EQ(reportWithin(1, 1e-9, frontend::Producer::kPtxFile).verdict, diagnose::Verdict::kVerified);
  EXPECT_EQ(reportWithin(1, 100, frontend::Producer::kClang).verdict, diagnose::Verdict::kVerified);
}

}  // namespace
}  // namespace handoff::explore
