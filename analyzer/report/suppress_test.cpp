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
  EXPECT_THAT(
      list.problems[0].message,
      HasSubstr(
          "no rule is called 'mising-wait' in NOLINT(handoff-mising-wait); did you mean 'missing-wait'?"));
  EXPECT_EQ(list.problems[0].pos.line, 1U);
  EXPECT_EQ(list.problems[0].pos.column, 10U);
}

TEST(ReadSuppressions, ALineMayHoldSeveral) {
  const SuppressionList list = readSuppressions(
      {"f();  // NOLINT(bugprone-x) NOLINT(handoff-hang): why NOLINTNEXTLINE(handoff-missing-wait)"});
  ASSERT_THAT(list.items, SizeIs(2));
  EXPECT_TRUE(list.items[0].covers(1, "hang"));
  EXPECT_EQ(list.items[0].reason, "why");
  EXPECT_TRUE(list.items[1].covers(2, "missing-wait"));
  EXPECT_FALSE(list.items[1].covers(1, "missing-wait"));
}

TEST(ReadSuppressions, ReasonIsWhatStandsBehind) {
  EXPECT_EQ(readSuppressions({"// NOLINT(handoff-hang): the host sets the flag"}).items[0].reason,
            "the host sets the flag");
  EXPECT_EQ(readSuppressions({"/* NOLINT(handoff-hang) - see docs */ f();"}).items[0].reason, "see docs");
  EXPECT_EQ(readSuppressions({"// NOLINT(handoff-hang)"}).items[0].reason, "");
}

TEST(ReadSuppressions, TheOrderOfRulesDoesNotMatterToARange) {
  const SuppressionList list = readSuppressions({"// NOLINTBEGIN(handoff-hang, handoff-wrong-*)", "f();",
                                                 "// NOLINTEND(handoff-wrong-*,handoff-hang)"});
  ASSERT_THAT(list.items, SizeIs(1));
  EXPECT_TRUE(list.items[0].covers(2, "wrong-parity"));
  EXPECT_THAT(list.problems, IsEmpty());
}

TEST(ReadSuppressions, RangesOfTheSameRulesNest) {
  const SuppressionList list = readSuppressions(
      {"// NOLINTBEGIN(handoff-hang)", "// NOLINTBEGIN(handoff-hang)", "// NOLINTEND(handoff-hang)", "f();",
       "// NOLINTEND(handoff-hang)", "// NOLINTEND(handoff-hang)"});
  ASSERT_THAT(list.items, SizeIs(2));
  EXPECT_EQ(list.items[0].last, 5U);
  EXPECT_EQ(list.items[1].last, 3U);
  ASSERT_THAT(list.problems, SizeIs(1));
  EXPECT_EQ(list.problems[0].pos.line, 6U);
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
  FileReport file = fileWith("\nf();  // NOLINT(handoff-missing-wait): by design\n");
  apply(file);
  EXPECT_THAT(file.kernels[0].findings, IsEmpty());
  EXPECT_EQ(file.kernels[0].verdict, Verdict::kBounded);
  ASSERT_THAT(file.kernels[0].limits, SizeIs(1));
  EXPECT_THAT(file.kernels[0].limits[0].reason, HasSubstr("silenced by NOLINT(handoff-missing-wait)"));
  ASSERT_THAT(file.set_aside, SizeIs(1));
  EXPECT_EQ(file.set_aside[0].kernel, 0U);
  EXPECT_EQ(file.set_aside[0].finding.rule, "missing-wait");
  EXPECT_EQ(file.set_aside[0].by, SetAside::By::kComment);
  EXPECT_EQ(file.set_aside[0].spelling, "NOLINT(handoff-missing-wait)");
  EXPECT_EQ(file.set_aside[0].reason, "by design");
  EXPECT_EQ(file.set_aside[0].pos.line, 2U);
  Totals totals;
  totals.add(file);
  EXPECT_EQ(totals.silenced, 1U);
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

TEST_F(ApplySuppressions, EveryCommentThatCoversAFindingIsUsed) {
  FileReport file =
      fileWith("// NOLINTBEGIN(handoff-*)\nf();  // NOLINT(handoff-missing-wait)\n// NOLINTEND(handoff-*)\n");
  apply(file);
  EXPECT_THAT(file.kernels[0].findings, IsEmpty());
  EXPECT_THAT(file.notes, IsEmpty());
}

TEST_F(ApplySuppressions, CommentsInHeadersSilenceButAreNeverUnused) {
  FileReport file = fileWith("\ng();\n");
  const std::filesystem::path header = path_.string() + "h";
  std::ofstream(header) << "f();  // NOLINT(handoff-missing-wait)\n// NOLINTNEXTLINE(handoff-hang)\n";
  file.kernels[0].findings[0].stack.insert(file.kernels[0].findings[0].stack.begin(),
                                           {{header.string(), 1, 1}, "f"});
  apply(file);
  EXPECT_THAT(file.kernels[0].findings, IsEmpty());
  EXPECT_EQ(file.set_aside.at(0).pos.file, std::filesystem::weakly_canonical(header).string());
  EXPECT_THAT(file.notes, IsEmpty()) << "another file may need the one about hang";
  std::filesystem::remove(header);
}

TEST_F(ApplySuppressions, ThoseOfPtxAreReadAlike) {
  FileReport file = fileWith("");
  std::filesystem::remove(path_);
  path_.replace_extension(".ptx");
  std::ofstream(path_)
      << "// NOLINTNEXTLINE(handoff-hang)\nld.shared.f32 %f1, [%r1]; // NOLINT(handoff-missing-wait)\n";
  file.path = path_.string();
  file.frontend = "ptx";
  file.kernels[0].findings[0].stack = {{{file.path, 2, 1}, "k"}};
  apply(file);
  EXPECT_THAT(file.kernels[0].findings, IsEmpty());
  ASSERT_THAT(file.notes, SizeIs(1));
  EXPECT_EQ(file.notes[0].message, "NOLINTNEXTLINE(handoff-hang) silences nothing");
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
