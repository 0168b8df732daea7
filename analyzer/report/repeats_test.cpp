// SPDX-License-Identifier: Apache-2.0
#include "analyzer/report/repeats.h"

#include <gmock/gmock.h>

namespace handoff::report {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

diagnose::Finding finding(const std::string& rule, const std::string& file, std::uint32_t line) {
  diagnose::Finding made;
  made.rule = rule;
  made.severity = diagnose::Severity::kError;
  made.stack = {{{file, line, 3}, "f"}};
  return made;
}

/// A file with one kernel.
FileReport fileWith(const std::string& path, std::vector<diagnose::Finding> findings) {
  FileReport file;
  file.path = path;
  diagnose::KernelReport kernel;
  kernel.name = "k";
  kernel.verdict = diagnose::Verdict::kViolation;
  kernel.findings = std::move(findings);
  file.kernels = {kernel};
  return file;
}

class Repeats : public testing::Test {
 protected:
  void add(FileReport file) {
    finder_.mark(file, paths_);
    report_.end.totals.add(file);
    report_.files.push_back(std::move(file));
  }
  bool isRepeat(std::size_t file, std::size_t finding = 0) const {
    return report_.files[file].kernels[0].findings[finding].is_repeat;
  }

  const Paths paths_{"/p", {}};
  RepeatFinder finder_;
  Report report_;
};

TEST_F(Repeats, LineOfAHeaderIsReportedWithTheFirstFile) {
  add(fileWith("/p/a.cu", {finding("hang", "/p/h.cuh", 4)}));
  add(fileWith("/p/b.cu", {finding("hang", "/p/h.cuh", 4), finding("hang", "/p/b.cu", 4)}));
  add(fileWith("/p/c.cu", {finding("hang", "h.cuh", 4)}));  // another spelling of the same file
  EXPECT_FALSE(isRepeat(0));
  EXPECT_TRUE(isRepeat(1));
  EXPECT_FALSE(isRepeat(1, 1));
  EXPECT_TRUE(isRepeat(2));
  const std::vector<Repeat> repeats = finder_.repeats();
  ASSERT_THAT(repeats, SizeIs(1));
  EXPECT_THAT(repeats[0].files, ElementsAre("a.cu", "b.cu", "c.cu"));
  EXPECT_EQ(report_.end.totals.errors, 2u) << "the header's once, and that of b.cu";
  EXPECT_EQ(report_.end.totals.violations, 3u) << "all three kernels are wrong";
  report_.end.repeats = repeats;
  addRepeats(report_);
  EXPECT_THAT(report_.files[0].kernels[0].findings[0].also_in, ElementsAre("b.cu", "c.cu"));
}

TEST_F(Repeats, OtherRulesAndLinesAreNone) {
  add(fileWith("/p/a.cu", {finding("hang", "/p/h.cuh", 4)}));
  add(fileWith("/p/b.cu", {finding("missing-wait", "/p/h.cuh", 4)}));
  add(fileWith("/p/c.cu", {finding("hang", "/p/h.cuh", 5)}));
  EXPECT_FALSE(isRepeat(1));
  EXPECT_FALSE(isRepeat(2));
  EXPECT_THAT(finder_.repeats(), IsEmpty());
}

TEST_F(Repeats, WithinAFileTheGroupsSayIt) {
  add(fileWith("/p/a.cu", {finding("hang", "/p/h.cuh", 4), finding("hang", "/p/h.cuh", 4)}));
  EXPECT_FALSE(isRepeat(0, 1));
  EXPECT_THAT(finder_.repeats(), IsEmpty());
}

TEST_F(Repeats, FileCompiledTwiceIsCountedOnce) {
  add(fileWith("/p/a.cu", {finding("hang", "/p/a.cu", 4)}));
  add(fileWith("/p/a.cu", {finding("hang", "/p/a.cu", 4)}));
  EXPECT_TRUE(isRepeat(1));
  EXPECT_THAT(finder_.repeats(), IsEmpty()) << "there is no other file to name";
}

TEST_F(Repeats, UnknownPositionsAreNone) {
  add(fileWith("/p/a.cu", {finding("hang", "/p/a.cu", 0)}));
  add(fileWith("/p/b.cu", {finding("hang", "/p/a.cu", 0)}));
  EXPECT_FALSE(isRepeat(1));
}

}  // namespace
}  // namespace handoff::report
