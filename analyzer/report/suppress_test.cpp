// SPDX-License-Identifier: Apache-2.0
#include "analyzer/report/suppress.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace handoff::report {
namespace {

using diagnose::Verdict;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

TEST(ReadSuppressions, BareNolintIsAnotherTools) {
  EXPECT_THAT(readSuppressions({"f();  // NOLINT"}).items, IsEmpty());
  EXPECT_THAT(readSuppressions({"f();  // NOLINT(bugprone-branch-clone)"}).items, IsEmpty());
  EXPECT_THAT(readSuppressions({"NOLINT(handoff-hang)"}).items, IsEmpty()) << "not in a comment";
}

TEST(ReadSuppressions, NolintCoversItsLine) {
  const SuppressionList list =
      readSuppressions({"", "f();  // NOLINT(bugprone-x, handoff-missing-wait): reason"});
  ASSERT_THAT(list.items, SizeIs(1));
  EXPECT_TRUE(list.items[0].covers(2, "missing-wait"));
  EXPECT_FALSE(list.items[0].covers(2, "hang"));
  EXPECT_FALSE(list.items[0].covers(1, "missing-wait"));
  EXPECT_FALSE(list.items[0].covers(3, "missing-wait"));
  EXPECT_THAT(list.problems, IsEmpty());
}

TEST(ReadSuppressions, NolintNextLineCoversTheNextLine) {
  const SuppressionList list = readSuppressions({"// NOLINTNEXTLINE(handoff-*)", "f();"});
  ASSERT_THAT(list.items, SizeIs(1));
  EXPECT_TRUE(list.items[0].covers(2, "hang"));
  EXPECT_FALSE(list.items[0].covers(1, "hang"));
}

TEST(ReadSuppressions, RangesNestAndMatchByTheirRules) {
  const SuppressionList list =
      readSuppressions({"// NOLINTBEGIN(handoff-hang)", "// NOLINTBEGIN(handoff-missing-wait)", "f();",
                        "// NOLINTEND(handoff-missing-wait)", "g();", "// NOLINTEND(handoff-hang)"});
  ASSERT_THAT(list.items, SizeIs(2));
  EXPECT_TRUE(list.items[0].covers(5, "hang"));
  EXPECT_TRUE(list.items[1].covers(3, "missing-wait"));
  EXPECT_FALSE(list.items[1].covers(5, "missing-wait"));
  EXPECT_THAT(list.problems, IsEmpty());
}

TEST(ReadSuppressions, OpenRangeSilencesNothingAndIsReported) {
  const SuppressionList list = readSuppressions({"// NOLINTBEGIN(handoff-hang)", "f();"});
  EXPECT_THAT(list.items, IsEmpty());
  ASSERT_THAT(list.problems, SizeIs(1));
  EXPECT_THAT(list.problems[0].message, HasSubstr("no NOLINTEND"));
}

TEST(ReadSuppressions, UnknownRuleIsReported) {
  const SuppressionList list = readSuppressions({"f();  // NOLINT(handoff-mising-wait)"});
  ASSERT_THAT(list.problems, SizeIs(1));
  EXPECT_THAT(list.problems[0].message, HasSubstr("mising-wait"));
}

class ApplySuppressions : public testing::Test {
 protected:
  /// A file with a finding of missing-wait on line 2.
  FileReport fileWith(const std::string& source, Verdict verdict = Verdict::kViolation) {
    path_ = std::filesystem::temp_directory_path() /
            (std::string(testing::UnitTest::GetInstance()->current_test_info()->name()) + ".cu");
    std::ofstream(path_) << source;
    FileReport file;
    file.path = path_.string();
    file.frontend = "clang";
    file.kernels.resize(1);
    file.kernels[0].verdict = verdict;
    if (verdict == Verdict::kViolation) {
      file.kernels[0].findings.resize(1);
      file.kernels[0].findings[0].rule = "missing-wait";
      file.kernels[0].findings[0].stack = {{{file.path, 2, 1}, "k"}};
    }
    return file;
  }
  void apply(FileReport& file, const std::string& checks = "*") {
    applySuppressions(file, Paths("/", {}), {.checks = GlobList(checks)}, sources_);
  }
  ~ApplySuppressions() override { std::filesystem::remove(path_); }

  std::filesystem::path path_;
  SourceLines sources_;
};

TEST_F(ApplySuppressions, SilencedViolationIsBoundedNotVerified) {
  FileReport file = fileWith("\nf();  // NOLINT(handoff-missing-wait)\n");
  apply(file);
  EXPECT_THAT(file.kernels[0].findings, IsEmpty());
  EXPECT_EQ(file.kernels[0].verdict, Verdict::kBounded);
  ASSERT_THAT(file.kernels[0].limits, SizeIs(1));
  EXPECT_THAT(file.kernels[0].limits[0].reason, HasSubstr("silenced by NOLINT(handoff-missing-wait)"));
  EXPECT_THAT(file.notes, IsEmpty());
}

TEST_F(ApplySuppressions, WhatIsOnlyPossibleDoesNotKeepAViolation) {
  FileReport file = fileWith("\nf();  // NOLINT(handoff-missing-wait)\n");
  diagnose::Finding possible = file.kernels[0].findings[0];
  possible.rule = "hang";
  possible.severity = diagnose::Severity::kPossible;
  file.kernels[0].findings.push_back(possible);
  apply(file);
  EXPECT_THAT(file.kernels[0].findings, SizeIs(1));
  EXPECT_EQ(file.kernels[0].verdict, Verdict::kBounded);
}

TEST_F(ApplySuppressions, FindingForOtherLaunchesLimitsNothing) {
  FileReport file = fileWith("\nf();  // NOLINT(handoff-missing-wait)\n");
  file.kernels[0].verdict = Verdict::kVerified;
  file.kernels[0].findings[0].is_for_other_launches = true;
  apply(file);
  EXPECT_THAT(file.kernels[0].findings, IsEmpty());
  EXPECT_EQ(file.kernels[0].verdict, Verdict::kVerified);
}

TEST_F(ApplySuppressions, OtherRulesAndLinesStay) {
  FileReport file = fileWith("f();  // NOLINT(handoff-missing-wait)\nf();  // NOLINT(handoff-hang)\n");
  apply(file);
  EXPECT_THAT(file.kernels[0].findings, SizeIs(1));
  EXPECT_EQ(file.kernels[0].verdict, Verdict::kViolation);
}

TEST_F(ApplySuppressions, UnusedCommentIsANote) {
  FileReport file = fileWith("f();  // NOLINT(handoff-hang)\n", Verdict::kVerified);
  apply(file);
  ASSERT_THAT(file.notes, SizeIs(1));
  EXPECT_THAT(file.notes[0].message, HasSubstr("silences nothing"));
  EXPECT_EQ(file.notes[0].pos.line, 1u);
  EXPECT_EQ(file.kernels[0].verdict, Verdict::kVerified);
}

TEST_F(ApplySuppressions, CommentAboutASwitchedOffRuleIsNotUnused) {
  FileReport file = fileWith("f();  // NOLINT(handoff-hang)\n", Verdict::kVerified);
  apply(file, "*,-hang");
  EXPECT_THAT(file.notes, IsEmpty());
}

TEST_F(ApplySuppressions, NothingIsCalledUnusedWhenKernelsWereNotChecked) {
  FileReport file = fileWith("f();  // NOLINT(handoff-hang)\n", Verdict::kError);
  apply(file);
  EXPECT_THAT(file.notes, IsEmpty());
}

}  // namespace
}  // namespace handoff::report
