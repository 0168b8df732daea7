// SPDX-License-Identifier: Apache-2.0
#include "analyzer/report/text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace handoff::report {
namespace {

using diagnose::Severity;
using diagnose::Verdict;
using testing::HasSubstr;
using testing::Not;

FileReport oneKernel(Verdict verdict) {
  FileReport file;
  file.path = "/p/a.cu";
  file.frontend = "clang";
  file.kernels.resize(1);
  file.kernels[0].name = "_Z1kv";
  file.kernels[0].pretty = "k()";
  file.kernels[0].verdict = verdict;
  file.kernels[0].has_async = true;
  return file;
}

FileReport oneFinding() {
  FileReport file = oneKernel(Verdict::kViolation);
  diagnose::Finding finding;
  finding.rule = "missing-wait";
  finding.message = "slot is read here";
  finding.stack = {{{"/p/a.cu", 31, 9}, "k()"}};
  finding.related = {
      {"the copy starts here", {{{"/p/a.cu", 12, 5}, "cp_async16"}, {{"/p/a.cu", 28, 5}, "k()"}}}};
  finding.witness.launch = "grid=(1,1,1) block=(64,1,1) smem=0";
  finding.witness.block = "(0,0,0)";
  finding.witness.first_thread = "(0,0,0)";
  finding.witness.second_thread = "(1,0,0)";
  finding.witness.parameters = {{"n", "4"}, {"m", "2 (assumed)"}};
  finding.witness.iteration = 3;
  finding.witness.buffer = "slot[1], bytes 16..31";
  finding.witness.steps = {{"thread 1", "starts a copy", {{{"/p/a.cu", 28, 5}, "k()"}}}};
  finding.repair = diagnose::Repair{
      "insert a wait",
      {{{"/p/a.cu", 31, 1}, "k()"}},
      {{diagnose::SourceChange::Kind::kInsertBefore, {"/p/a.cu", 31, 0}, "sum += slot[1];", "cp_async_wait<0>();"}}};
  file.kernels[0].findings.push_back(finding);
  return file;
}

std::string render(const FileReport& file, const TextOptions& options = {}) {
  const Paths paths("/p", {});
  SourceLines sources;
  return renderText(file, paths, sources, options);
}

TEST(Text, FirstLineIsWhatEditorsParse) {
  EXPECT_THAT(render(oneFinding()),
              testing::StartsWith("a.cu:31:9: error: slot is read here [missing-wait]\n"));
}

TEST(Text, RelatedPositionNamesTheCall) {
  EXPECT_THAT(render(oneFinding()),
              HasSubstr("a.cu:12:5: note: the copy starts here (called from line 28)\n"));
}

TEST(Text, WitnessHasLaunchParametersThreadsAndMemory) {
  const std::string text = render(oneFinding());
  EXPECT_THAT(text, HasSubstr("  launch:  grid=(1,1,1) block=(64,1,1) smem=0\n"));
  EXPECT_THAT(text, HasSubstr("n = 4, m = 2 (assumed)\n"));
  EXPECT_THAT(text, HasSubstr("block (0,0,0), threads (0,0,0) and (1,0,0), the 3. time that it gets here\n"));
  EXPECT_THAT(text, HasSubstr("slot[1], bytes 16..31\n"));
  EXPECT_THAT(text, HasSubstr("1. thread 1 starts a copy  (line 28)\n"));
}

TEST(Text, RepairShowsTheTextToInsert) {
  const std::string text = render(oneFinding());
  EXPECT_THAT(text, HasSubstr("  fix:     insert a wait (line 31); re-run with it, the finding is gone\n"
                              "           + cp_async_wait<0>();\n             sum += slot[1];\n"));
  EXPECT_THAT(text, HasSubstr("+ cp_async_wait<0>();\n"));
}

TEST(Text, RepairOfSeveralLinesIsADiff) {
  FileReport file = oneFinding();
  diagnose::Repair& repair = *file.kernels[0].findings[0].repair;
  repair.is_tested = false;
  repair.changes = {{diagnose::SourceChange::Kind::kDelete, {"/p/a.cu", 30, 0}, "  arrive();", ""},
                    {diagnose::SourceChange::Kind::kReplace, {"/p/a.cu", 31, 0}, "wait(1);", "wait(0);\nsync();"}};
  EXPECT_THAT(render(file), HasSubstr("insert a wait (line 31)\n"
                                      "           @@ line 30\n           - arrive();\n"
                                      "           @@ line 31\n           - wait(1);\n           + wait(0);\n           + sync();\n"));
}

TEST(Text, NoRepairNoFixLine) {
  FileReport file = oneFinding();
  file.kernels[0].findings[0].repair.reset();
  EXPECT_THAT(render(file), Not(HasSubstr("fix:")));
}

TEST(Text, OuterFramesOfTheFindingAreNotes) {
  FileReport file = oneFinding();
  file.kernels[0].findings[0].stack = {{{"/p/copy.cuh", 7, 3}, "wait<2>()"}, {{"/p/a.cu", 31, 9}, "k()"}};
  const std::string text = render(file);
  EXPECT_THAT(text, testing::StartsWith("copy.cuh:7:3: error: "));
  EXPECT_THAT(text, HasSubstr("a.cu:31:9: note: in 'wait<2>()' called here\n"));
}

TEST(Text, FindingWithEverythingFitsOnAScreen) {
  FileReport file = oneFinding();
  diagnose::Finding& finding = file.kernels[0].findings[0];
  finding.related.resize(20, finding.related[0]);
  finding.witness.steps.resize(200, finding.witness.steps[0]);
  finding.stack.resize(10, finding.stack[0]);
  const std::string text = render(file);
  EXPECT_LE(std::count(text.begin(), text.end(), '\n'), 40);
  EXPECT_THAT(text, HasSubstr("16 more positions in --format=json"));
  EXPECT_THAT(text, HasSubstr("steps left out"));
  EXPECT_THAT(text, HasSubstr("200. thread 1")) << "the end of a trace is never cut";
}

TEST(Text, VerdictLineNamesTheLimits) {
  FileReport file = oneKernel(Verdict::kBounded);
  file.kernels[0].limits = {{"the loop did not close", {"/p/a.cu", 20, 0}}};
  EXPECT_THAT(render(file), HasSubstr("bounded: k()\n  limit: the loop did not close (line 20)\n"));
}

TEST(Text, VerdictLineSaysWhatItHoldsFor) {
  FileReport file = oneKernel(Verdict::kVerified);
  file.kernels[0].launches = {"grid=(1,1,1)"};
  file.kernels[0].holds_for = {"all tiles >= 0", "all blocks", "block = (128,1,1)", "smem = 49152"};
  EXPECT_EQ(render(file),
            "verified: k(), 1 launch, for all tiles >= 0, all blocks, block = (128,1,1), smem = 49152\n");
}

TEST(Text, PathsAreStatistics) {
  FileReport file = oneKernel(Verdict::kVerified);
  file.kernels[0].paths = 12;
  EXPECT_THAT(render(file), Not(HasSubstr("12 paths")));
  EXPECT_THAT(render(file, {.show_stats = true}), HasSubstr(", 12 paths\n"));
}

TEST(Text, PossibleHasALabelOfItsOwn) {
  FileReport file = oneFinding();
  file.kernels[0].findings[0].severity = Severity::kPossible;
  EXPECT_THAT(render(file), testing::StartsWith("a.cu:31:9: possible: slot is read here [missing-wait]\n"));
  EXPECT_THAT(render(file, {.use_color = true}), HasSubstr("\x1b[1;33mpossible:"));
  file.kernels[0].findings[0].severity = Severity::kNote;
  EXPECT_THAT(render(file), testing::StartsWith("a.cu:31:9: note: "));
}

TEST(Text, FindingForOtherLaunchesSaysSo) {
  FileReport file = oneFinding();
  file.kernels[0].findings[0].is_for_other_launches = true;
  EXPECT_THAT(render(file),
              testing::StartsWith("a.cu:31:9: note: for other launches: slot is read here [missing-wait]\n"));
}

TEST(Text, AllErrorsOfAFile) {
  FileReport file;
  file.path = "/p/a.cu";
  file.error = Error{"one", {"/p/a.cu", 3, 0}};
  file.more_errors = {{"two", {"/p/a.cu", 5, 0}}};
  EXPECT_EQ(render(file), "a.cu:3: error: one\na.cu:5: error: two\n");
}

TEST(Text, FileWithoutKernelSaysSo) {
  FileReport file;
  file.path = "/p/a.cu";
  EXPECT_THAT(render(file), HasSubstr("a.cu: warning: no kernel was found, so nothing was checked"));
}

TEST(Text, UncheckedKernelGivesItsReason) {
  FileReport file = oneKernel(Verdict::kError);
  file.kernels[0].error = "it calls through a pointer";
  const std::string text = render(file, {.is_quiet = true});
  EXPECT_THAT(text, HasSubstr("not checked: it calls through a pointer"));
  EXPECT_THAT(text, HasSubstr("none of its kernels could be checked"));
}

TEST(Text, QuietPrintsNothingForACleanFile) {
  EXPECT_EQ(render(oneKernel(Verdict::kVerified), {.is_quiet = true}), "");
}

TEST(Text, ColorIsOffUnlessAskedFor) {
  EXPECT_THAT(render(oneFinding()), Not(HasSubstr("\x1b[")));
  EXPECT_THAT(render(oneFinding(), {.use_color = true}), HasSubstr("\x1b[1;31merror:"));
}

TEST(Summary, CountsVerdictsAndFindings) {
  Totals totals;
  totals.add(oneFinding());
  totals.add(oneKernel(Verdict::kVerified));
  EXPECT_EQ(renderSummary(totals, {}),
            "2 files, 2 kernels: 1 verified, 0 bounded, 1 violation; 1 error, 0 warnings, 0 notes\n");
}

TEST(Summary, CountsWhatIsPossibleAndForOtherLaunches) {
  FileReport file = oneFinding();
  file.kernels[0].verdict = Verdict::kBounded;
  file.kernels[0].findings.resize(2, file.kernels[0].findings[0]);
  file.kernels[0].findings[0].severity = Severity::kPossible;
  file.kernels[0].findings[1].is_for_other_launches = true;
  Totals totals;
  totals.add(file);
  EXPECT_EQ(renderSummary(totals, {}),
            "1 file, 1 kernel: 0 verified, 1 bounded, 0 violations; 0 errors, 0 warnings, 1 possible, 0 notes, "
            "1 for other launches\n");
}

}  // namespace
}  // namespace handoff::report
