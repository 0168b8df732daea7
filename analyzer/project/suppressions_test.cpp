// SPDX-License-Identifier: Apache-2.0
#include "analyzer/project/suppressions.h"

#include <gmock/gmock.h>

namespace handoff::project {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

config::Suppression item(const std::string& rule, const std::string& file = "*",
                         const std::string& kernel = "*") {
  return {rule, file, kernel, "vendor code", {"/p/.handoff.yaml", 4, 0}};
}

diagnose::Finding finding(const std::string& rule, const std::string& file) {
  diagnose::Finding made;
  made.rule = rule;
  made.severity = diagnose::Severity::kError;
  made.stack = {{{file, 7, 1}, "k"}};
  return made;
}

class SuppressionsTest : public testing::Test {
 protected:
  SuppressionsTest() {
    diagnose::KernelReport kernel;
    kernel.name = "_Z1kv";
    kernel.pretty = "k()";
    kernel.verdict = diagnose::Verdict::kViolation;
    kernel.findings = {finding("missing-wait", "/p/third_party/a.cuh"),
                       finding("missing-wait", "/p/src/a.cu")};
    file_.path = "/p/src/a.cu";
    file_.kernels = {kernel};
  }
  std::size_t left(const std::vector<config::Suppression>& items) {
    report::FileReport file = file_;
    used_.clear();
    applySuppressions(file, items, paths_, used_);
    silenced_ = file;
    return file.kernels[0].findings.size();
  }

  const report::Paths paths_{"/p", {}};
  report::FileReport file_, silenced_;
  UsedSuppressions used_;
};

TEST_F(SuppressionsTest, AllPartsHaveToHold) {
  EXPECT_EQ(left({}), 2u);
  EXPECT_EQ(left({item("missing-barrier")}), 2u);
  EXPECT_EQ(left({item("missing-wait", "src/b*")}), 2u);
  EXPECT_EQ(left({item("missing-wait", "*", "other")}), 2u);
  EXPECT_EQ(left({item("missing-wait", "third_party/*", "k")}), 1u);
  EXPECT_EQ(left({item("missing-*", "src/*"), item("*", "third_party/*")}), 0u);
}

TEST_F(SuppressionsTest, SilencedFindingsAreKnownAndTheKernelIsBounded) {
  EXPECT_EQ(left({item("missing-wait")}), 0u);
  ASSERT_THAT(silenced_.set_aside, SizeIs(2));
  EXPECT_EQ(silenced_.set_aside[0].by, report::SetAside::By::kConfig);
  EXPECT_EQ(silenced_.set_aside[0].reason, "vendor code");
  EXPECT_EQ(silenced_.kernels[0].verdict, diagnose::Verdict::kBounded);
  ASSERT_FALSE(silenced_.kernels[0].limits.empty());
  EXPECT_THAT(silenced_.kernels[0].limits[0].reason, HasSubstr("silenced by a suppression: vendor code"));
  EXPECT_EQ(silenced_.kernels[0].limits[0].pos.line, 4u);
}

TEST_F(SuppressionsTest, UnusedOnesAreNamed) {
  config::Config config;
  config.suppressions = {item("missing-wait"), item("hang")};
  config.suppressions[1].pos.line = 9;
  left(config.suppressions);
  const std::vector<Error> unused = unusedSuppressions(config, "*", used_);
  ASSERT_THAT(unused, SizeIs(1));
  EXPECT_EQ(unused[0].pos.line, 9u);
  EXPECT_THAT(unused[0].message, HasSubstr("hang silences nothing"));
  EXPECT_THAT(unusedSuppressions(config, "-*,missing-*", used_), IsEmpty())
      << "a rule that is off cannot be silenced";
}

}  // namespace
}  // namespace handoff::project
