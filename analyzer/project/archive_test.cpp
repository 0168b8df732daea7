// SPDX-License-Identifier: Apache-2.0
#include "analyzer/project/archive.h"

#include <gtest/gtest.h>

#include "analyzer/project/report_fields.h"

namespace handoff::project {
namespace {

CheckedFile example() {
  CheckedFile file;
  file.report.path = "a.cu";
  file.report.frontend = "clang";
  file.report.notes = {{"note", {"a.cu", 3, 4}}};
  file.report.error = Error{"wrong", {"b.cuh", 1, 0}};
  diagnose::KernelReport kernel;
  kernel.name = "_Z1kv";
  kernel.verdict = diagnose::Verdict::kViolation;
  kernel.limits = {{"limit", {"a.cu", 7, 0}}};
  kernel.holds_for = {"all tiles >= 0"};
  kernel.seconds = 0.25;
  diagnose::Finding finding;
  finding.rule = "missing-wait";
  finding.severity = diagnose::Severity::kWarning;
  finding.message = "text";
  finding.stack = {{{"a.cu", 9, 2}, "f"}, {{"a.cu", 20, 1}, "k"}};
  finding.witness.parameters = {{"n", "4 (assumed)"}};
  finding.witness.steps = {{"thread 0", "reads", finding.stack}};
  finding.repair =
      diagnose::Repair{.description = "insert",
                       .stack = finding.stack,
                       .changes = {{diagnose::SourceChange::Kind::kReplace, {"a.cu", 9, 0}, "old", "new"}}};
  finding.is_for_other_launches = true;
  kernel.findings = {finding, finding};
  file.report.kernels = {kernel};
  return file;
}

std::string bytesOf(CheckedFile file) {
  Writer writer;
  all(writer, file);
  return writer.take();
}

TEST(Archive, ReportComesBackWhole) {
  const std::string bytes = bytesOf(example());
  Reader reader(bytes);
  CheckedFile read;
  all(reader, read);
  ASSERT_TRUE(reader.isAtEnd());
  EXPECT_EQ(bytesOf(read), bytes);
  const diagnose::Finding& finding = read.report.kernels.at(0).findings.at(1);
  EXPECT_EQ(finding.rule, "missing-wait");
  EXPECT_EQ(finding.stack, example().report.kernels[0].findings[0].stack);
  EXPECT_EQ(finding.repair->changes.at(0).text, "new");
  EXPECT_EQ(read.report.error->pos.file, "b.cuh");
}

TEST(Archive, EveryTruncationIsNoticed) {
  const std::string bytes = bytesOf(example());
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    Reader reader(std::string_view(bytes).substr(0, size));
    CheckedFile read;
    all(reader, read);
    EXPECT_FALSE(reader.isAtEnd()) << size;
  }
}

TEST(Archive, SizesAreNotTrusted) {
  Writer writer;
  std::uint64_t huge = std::uint64_t{1} << 60U;
  all(writer, huge);
  Reader reader(writer.text());
  std::vector<std::string> items;
  all(reader, items);
  EXPECT_FALSE(reader.isGood());
  EXPECT_TRUE(items.empty());
}

TEST(Archive, RestIsNoticed) {
  const std::string bytes = bytesOf(example()) + "x";
  Reader reader(bytes);
  CheckedFile read;
  all(reader, read);
  EXPECT_TRUE(reader.isGood());
  EXPECT_FALSE(reader.isAtEnd());
}

TEST(Archive, SetsAndMaps) {
  std::map<std::string, std::vector<int>> map = {{"a", {1, 2}}, {"b", {}}};
  std::set<std::string> set = {"x", "y"};
  std::optional<double> none, some = 2.5;
  Writer writer;
  all(writer, map, set, none, some);
  Reader reader(writer.text());
  decltype(map) map_read;
  decltype(set) set_read;
  decltype(none) none_read = 1.0, some_read;
  all(reader, map_read, set_read, none_read, some_read);
  EXPECT_TRUE(reader.isAtEnd());
  EXPECT_EQ(map_read, map);
  EXPECT_EQ(set_read, set);
  EXPECT_EQ(some_read, some);
  EXPECT_EQ(none_read, std::nullopt);
}

}  // namespace
}  // namespace handoff::project
