// SPDX-License-Identifier: Apache-2.0
#include "analyzer/report/baseline.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace handoff::report {
namespace {

using diagnose::Verdict;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr const char* kFirst = "0123456789abcdef:1";
constexpr const char* kSecond = "0123456789abcdef:2";

BaselineEntry entry(const std::string& fingerprint, const std::string& file = "src/a.cu") {
  BaselineEntry result;
  result.fingerprint = fingerprint;
  result.rule = "missing-wait";
  result.kernel = "k(int*)";
  result.file = file;
  result.source = "x = \"é\";";
  return result;
}

Baseline baselineOf(std::vector<BaselineEntry> entries) {
  Baseline baseline;
  baseline.add(std::move(entries));
  return baseline;
}

FileReport fileWith(const std::vector<std::string>& fingerprints) {
  FileReport file;
  file.path = "/p/src/a.cu";
  file.kernels.resize(1);
  file.kernels[0].name = "_Z1kPi";
  file.kernels[0].pretty = "k(int*)";
  file.kernels[0].verdict = fingerprints.empty() ? Verdict::kVerified : Verdict::kViolation;
  for (const std::string& fingerprint : fingerprints) {
    diagnose::Finding finding;
    finding.rule = "missing-wait";
    finding.fingerprint = fingerprint;
    finding.stack = {{{"/p/src/a.cu", 7, 1}, "k"}};
    file.kernels[0].findings.push_back(finding);
  }
  return file;
}

std::string errorOf(const std::string& text) {
  const Result<Baseline> baseline = parseBaseline(text, "b.json");
  return baseline ? "none" : toString(baseline.error());
}

TEST(Baseline, IsReadAsItIsWritten) {
  BaselineEntry in_header = entry("fedcba9876543210:1", "inc/a.cuh");
  in_header.input = "src/b.cu";
  const std::string text =
      printBaseline(baselineOf({entry(kSecond), entry(kFirst), in_header, entry(kFirst)}));
  const Result<Baseline> read = parseBaseline(text, "b.json");
  ASSERT_TRUE(read) << toString(read.error());
  EXPECT_EQ(printBaseline(*read), text);
  ASSERT_THAT(read->entries, SizeIs(3));
  EXPECT_EQ(read->entries[0].file, "inc/a.cuh");
  EXPECT_EQ(read->entries[0].input, "src/b.cu");
  EXPECT_EQ(read->entries[1].fingerprint, kFirst);
  EXPECT_EQ(read->entries[1].source, "x = \"é\";");
}

TEST(Baseline, HasOneLineForEachFinding) {
  EXPECT_EQ(printBaseline(baselineOf({entry(kFirst)})),
            "{\n  \"version\": 1,\n  \"findings\": [\n"
            "    {\"fingerprint\":\"0123456789abcdef:1\",\"rule\":\"missing-wait\",\"file\":\"src/a.cu\","
            "\"kernel\":\"k(int*)\",\"source\":\"x = \\\"é\\\";\"}\n  ]\n}\n");
  EXPECT_EQ(printBaseline({}), "{\n  \"version\": 1,\n  \"findings\": []\n}\n");
}

TEST(Baseline, MistakesHaveTheirLine) {
  EXPECT_EQ(errorOf("{\n  \"version\": 1,\n<<<<<<< ours\n"),
            "b.json:3:1: error: a member needs a name in quotes");
  EXPECT_THAT(errorOf("{}"), HasSubstr("b.json:1: error: this is no baseline"));
  EXPECT_THAT(errorOf("{\n\n\"version\": 2, \"findings\": []}"),
              HasSubstr("b.json:3: error: version 2 of the baseline"));
  const std::string head = "{\"version\": 1, \"findings\": [\n";
  EXPECT_THAT(errorOf(head + "{\"rule\": \"hang\"}]}"),
              HasSubstr("b.json:2: error: this finding needs a \"fingerprint\""));
  EXPECT_THAT(
      errorOf(head + "{\"fingerprint\": \"12\",\n \"rule\": \"a\", \"file\": \"a\", \"kernel\": \"k\"}]}"),
      HasSubstr("b.json:2: error: '12' is no fingerprint"));
  EXPECT_THAT(errorOf(head + "7]}"), HasSubstr("b.json:2: error: a finding of a baseline is an object"));
  EXPECT_THAT(readBaseline("/nowhere/b.json").error().message, HasSubstr("cannot read"));
}

TEST(Baseline, EntriesSayWhatTheFindingIs) {
  FileReport file = fileWith({kFirst});
  file.kernels[0].findings[0].stack[0].pos.file = "/p/inc/a.cuh";
  SourceLines sources;
  const std::vector<BaselineEntry> entries = baselineEntries(file, Paths("/p", {}), sources);
  ASSERT_THAT(entries, SizeIs(1));
  EXPECT_EQ(entries[0].file, "inc/a.cuh");
  EXPECT_EQ(entries[0].input, "src/a.cu");
  EXPECT_EQ(entries[0].kernel, "k(int*)");
}

TEST(ApplyBaseline, KnownFindingsAreSetAsideAndTheKernelIsBounded) {
  FileReport file = fileWith({kFirst});
  applyBaseline(file, baselineOf({entry(kFirst)}), Paths("/p", {}));
  EXPECT_THAT(file.kernels[0].findings, IsEmpty());
  EXPECT_EQ(file.kernels[0].verdict, Verdict::kBounded) << "a known mistake is no proof";
  ASSERT_THAT(file.kernels[0].limits, SizeIs(1));
  EXPECT_EQ(file.kernels[0].limits[0].reason, "1 known finding of the baseline: missing-wait");
  ASSERT_THAT(file.set_aside, SizeIs(1));
  EXPECT_EQ(file.set_aside[0].by, SetAside::By::kBaseline);
  Totals totals;
  totals.add(file);
  EXPECT_EQ(totals.known, 1U);
  EXPECT_EQ(totals.errors, 0U);
  SourceLines sources;
  EXPECT_THAT(baselineEntries(file, Paths("/p", {}), sources), SizeIs(1)) << "it is still there";
}

TEST(ApplyBaseline, NewFindingsStay) {
  FileReport file = fileWith({kFirst, kSecond});
  applyBaseline(file, baselineOf({entry(kFirst)}), Paths("/p", {}));
  ASSERT_THAT(file.kernels[0].findings, SizeIs(1));
  EXPECT_EQ(file.kernels[0].findings[0].fingerprint, kSecond);
  EXPECT_EQ(file.kernels[0].verdict, Verdict::kViolation);
}

TEST(ApplyBaseline, KnownNotesLimitNothing) {
  FileReport file = fileWith({kFirst});
  file.kernels[0].verdict = Verdict::kVerified;
  file.kernels[0].findings[0].severity = diagnose::Severity::kNote;
  applyBaseline(file, baselineOf({entry(kFirst)}), Paths("/p", {}));
  EXPECT_THAT(file.kernels[0].findings, IsEmpty());
  EXPECT_EQ(file.kernels[0].verdict, Verdict::kVerified);
}

TEST(Coverage, OnlyWhatWasLookedAtCanBeGone) {
  const Paths paths("/p", {});
  Coverage coverage([](std::string_view rule) { return rule != "hang"; });
  EXPECT_FALSE(coverage.covers(entry(kFirst)));
  FileReport failed = fileWith({});
  failed.error = Error{"cannot be compiled", {}};
  coverage.add(failed, paths, true);
  coverage.add(fileWith({}), paths, false);
  EXPECT_FALSE(coverage.covers(entry(kFirst))) << "not compiled, or only in part checked";
  coverage.add(fileWith({}), paths, true);
  EXPECT_TRUE(coverage.covers(entry(kFirst)));
  EXPECT_FALSE(coverage.covers(entry(kFirst, "src/other.cu")));
  BaselineEntry hang = entry(kFirst);
  hang.rule = "hang";
  EXPECT_FALSE(coverage.covers(hang)) << "the check is off";
  FileReport hasty = fileWith({});
  hasty.kernels[0].pretty = "slow()";
  hasty.kernels[0].is_cut_short = true;
  coverage.add(hasty, paths, true);
  BaselineEntry slow = entry(kFirst);
  slow.kernel = "slow()";
  EXPECT_FALSE(coverage.covers(slow)) << "more time may find it";
  FileReport unchecked = fileWith({});
  unchecked.kernels[0].verdict = Verdict::kError;
  coverage.add(unchecked, paths, true);
  EXPECT_FALSE(coverage.covers(entry(kFirst)));
}

TEST(Coverage, MissingFilesHoldNothingUnlessAllAreMissing) {
  const std::filesystem::path root =
      std::filesystem::temp_directory_path() / ("handoff_missing" + std::to_string(getpid()));
  std::filesystem::create_directories(root);
  const Baseline baseline = baselineOf({entry(kFirst, "gone.cu"), entry("1123456789abcdef:1", "here.cu")});
  const auto covers = [&] {
    Coverage coverage([](std::string_view) { return true; });
    coverage.addMissing(baseline, root.string());
    return coverage.covers(entry(kFirst, "gone.cu"));
  };
  EXPECT_FALSE(covers()) << "this is another folder";
  std::ofstream(root / "here.cu") << "";
  EXPECT_TRUE(covers());
  std::filesystem::remove_all(root);
}

TEST(Compare, TellsNewFixedUnchangedAndUnchecked) {
  const Baseline before =
      baselineOf({entry(kFirst), entry("1123456789abcdef:1", "b.cu"), entry("2123456789abcdef:1")});
  const Baseline after = baselineOf({entry(kFirst), entry(kSecond)});
  const BaselineDiff diff =
      compare(before, after, [](const BaselineEntry& item) { return item.file != "b.cu"; });
  ASSERT_THAT(diff.added, SizeIs(1));
  EXPECT_EQ(diff.added[0].fingerprint, kSecond);
  ASSERT_THAT(diff.gone, SizeIs(1));
  EXPECT_EQ(diff.gone[0].fingerprint, "2123456789abcdef:1");
  EXPECT_THAT(diff.unchanged, SizeIs(1));
  EXPECT_THAT(diff.unjudged, SizeIs(1));
  EXPECT_EQ(renderDiff(diff),
            "new: src/a.cu: missing-wait in k(int*)\n  x = \"é\";\n"
            "fixed: src/a.cu: missing-wait in k(int*)\n  x = \"é\";\n"
            "1 new, 1 fixed, 1 unchanged, 1 not checked\n");
  EXPECT_THAT(renderDiffJson(diff), HasSubstr("\"not_checked\": ["));
}

}  // namespace
}  // namespace handoff::report
