// SPDX-License-Identifier: Apache-2.0
// Which kernels and findings get a picture.
#include "analyzer/explore/pictures.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analyzer/diagnose/picture.h"
#include "analyzer/explore/analyze.h"
#include "analyzer/test_support/ptx_kernel.h"

namespace handoff::explore {
namespace {

diagnose::KernelReport analyzed(const std::string& statements, bool makes_pictures = true) {
  frontend::Unit unit;
  unit.producer = frontend::Producer::kPtxFile;
  unit.module = std::move(*test::parseModule(test::kernelText(statements)));
  Options options;
  options.launches = {"block=64 grid=1"};
  options.makes_pictures = makes_pictures;
  return analyze(unit, options).back();
}

/// A read whose value goes nowhere is no race.
const std::string kUse = "st.global.u32 [%out], %r60;\n";
const std::string kBad = std::string(test::kCopy) + test::kCommit + test::kSync + test::kReadOther + kUse;
const std::string kGood =
    std::string(test::kCopy) + test::kCommit + test::kWait + test::kSync + test::kReadOther + kUse;

TEST(Pictures, FindingHasItsMissingEdge) {
  const diagnose::KernelReport report = analyzed(kBad);
  ASSERT_FALSE(report.findings.empty());
  ASSERT_NE(report.findings[0].picture, nullptr);
  const std::vector<diagnose::Picture::Edge>& edges = report.findings[0].picture->edges;
  EXPECT_THAT(edges, testing::Contains(testing::Field(&diagnose::Picture::Edge::kind,
                                                      diagnose::Picture::Edge::Kind::kMissing)));
  EXPECT_EQ(report.picture, nullptr) << "the slots of a kernel that goes wrong say little";
}

TEST(Pictures, KernelWithoutViolationHasItsSlots) {
  const diagnose::KernelReport report = analyzed(kGood);
  ASSERT_NE(report.picture, nullptr);
  EXPECT_THAT(report.picture->slots, testing::SizeIs(1));
}

TEST(Pictures, NoneUnlessTheyAreAskedFor) {
  EXPECT_EQ(analyzed(kBad, /*makes_pictures=*/false).findings.at(0).picture, nullptr);
  EXPECT_EQ(analyzed(kGood, /*makes_pictures=*/false).picture, nullptr);
}

TEST(Pictures, KernelWithoutAsynchronousCopiesHasNone) {
  EXPECT_EQ(analyzed(std::string("st.shared.u32 [%s], %t;\n") + test::kSync + test::kReadOther).picture,
            nullptr);
}

}  // namespace
}  // namespace handoff::explore
