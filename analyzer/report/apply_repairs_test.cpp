// SPDX-License-Identifier: Apache-2.0
#include "analyzer/report/apply_repairs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace handoff::report {
namespace {

using diagnose::Finding;
using diagnose::SourceChange;
using Kind = SourceChange::Kind;

Finding findingWith(std::vector<SourceChange> changes) {
  Finding finding;
  finding.repair.emplace();
  finding.repair->changes = std::move(changes);
  return finding;
}

SourceChange change(Kind kind, std::uint32_t line, const char* original, const char* text) {
  return {kind, {"a.cu", line, 0}, original, text};
}

std::string applied(const std::string& text, const std::vector<Finding>& findings) {
  const auto result = applyRepairs(text, "a.cu", findings);
  return result ? result->text : toString(result.error());
}

TEST(ApplyRepairs, EachKindOfChange) {
  const std::string text = "one\ntwo\nthree\n";
  EXPECT_EQ(applied(text, {findingWith({change(Kind::kInsertBefore, 2, "two", "new")})}),
            "one\nnew\ntwo\nthree\n");
  EXPECT_EQ(applied(text, {findingWith({change(Kind::kInsertAfter, 2, "two", "a\nb")})}),
            "one\ntwo\na\nb\nthree\n");
  EXPECT_EQ(applied(text, {findingWith({change(Kind::kReplace, 2, "two", "2")})}), "one\n2\nthree\n");
  EXPECT_EQ(applied(text, {findingWith({change(Kind::kDelete, 2, "two", "")})}), "one\nthree\n");
}

TEST(ApplyRepairs, LineEndsStay) {
  EXPECT_EQ(applied("one\r\ntwo", {findingWith({change(Kind::kInsertBefore, 1, "one", "new")})}),
            "new\r\none\r\ntwo");
  EXPECT_EQ(applied("one\r\ntwo\r\n", {findingWith({change(Kind::kReplace, 1, "one", "a\nb")})}),
            "a\r\nb\r\ntwo\r\n");
  EXPECT_EQ(applied("one\ntwo", {findingWith({change(Kind::kInsertBefore, 2, "two", "new")})}),
            "one\nnew\ntwo");
  EXPECT_EQ(applied("one\ntwo", {findingWith({change(Kind::kInsertAfter, 2, "two", "new")})}),
            "one\ntwo\nnew\n");
}

TEST(ApplyRepairs, SharedRepairIsAppliedOnce) {
  const Finding finding = findingWith({change(Kind::kInsertBefore, 1, "one", "new")});
  const auto result = applyRepairs("one\n", "a.cu", {finding, finding});
  ASSERT_TRUE(result);
  EXPECT_EQ(result->text, "new\none\n");
  EXPECT_EQ(result->applied, 1U);
  EXPECT_EQ(result->left, 0U);
}

TEST(ApplyRepairs, OfTwoForOneLineTheFirstIsAppliedWhole) {
  const auto result = applyRepairs(
      "one\ntwo\n", "a.cu",
      {findingWith({change(Kind::kReplace, 1, "one", "1")}),
       findingWith({change(Kind::kReplace, 1, "one", "I"), change(Kind::kDelete, 2, "two", "")})});
  ASSERT_TRUE(result);
  EXPECT_EQ(result->text, "1\ntwo\n");
  EXPECT_EQ(result->left, 1U);
}

TEST(ApplyRepairs, ChangedLineIsAnError) {
  const auto result =
      applyRepairs("one\nedited\n", "a.cu", {findingWith({change(Kind::kDelete, 2, "two", "")})});
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().pos.line, 2U);
}

TEST(ApplyRepairs, OtherFilesAndOtherLaunchesAreLeftAlone) {
  Finding header = findingWith({change(Kind::kDelete, 1, "one", "")});
  header.repair->changes[0].pos.file = "b.cuh";
  Finding elsewhere = findingWith({change(Kind::kDelete, 1, "one", "")});
  elsewhere.is_for_other_launches = true;
  EXPECT_EQ(applied("one\n", {header, elsewhere}), "one\n");
}

}  // namespace
}  // namespace handoff::report
