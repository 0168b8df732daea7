// SPDX-License-Identifier: Apache-2.0
// The page as text; what a browser makes of it is tested in tests/html_page_test.cpp.
#include "analyzer/report/html.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analyzer/diagnose/picture.h"

namespace handoff::report {
namespace {

using testing::HasSubstr;
using testing::Not;

Report oneFinding() {
  diagnose::Finding finding;
  finding.rule = "missing-wait";
  finding.message = "'ring<0>' is read & lost";
  finding.stack = {{{"k.cu", 7, 3}, "k"}};
  finding.witness.steps = {{"thread (0,0,0)", "issues a copy", {}}, {"thread (0,0,0)", "reads", {}}};
  diagnose::KernelReport kernel;
  kernel.name = "_Z1k";
  kernel.pretty = "k<\"4\">(int)";
  kernel.verdict = diagnose::Verdict::kViolation;
  kernel.findings = {finding};
  FileReport file;
  file.path = "k.cu";
  file.kernels = {kernel};
  Report report;
  report.files = {file};
  report.end.totals.add(file);
  return report;
}

std::string render(const Report& report, bool show_stats = false) {
  SourceLines sources;
  return renderHtml(report, Paths("/work", {}), sources,
                    {"1.2.3", show_stats, [](std::string_view) { return "# page of <rule>"; }});
}

TEST(Html, EscapesWhatComesFromTheInput) {
  const std::string page = render(oneFinding());
  EXPECT_THAT(page, HasSubstr("k&lt;&quot;4&quot;&gt;(int)"));
  EXPECT_THAT(page, HasSubstr("&#39;ring&lt;0&gt;&#39; is read &amp; lost"));
  EXPECT_THAT(page, HasSubstr("# page of &lt;rule&gt;"));
  EXPECT_THAT(page, Not(HasSubstr("k<\"4\">")));
}

TEST(Html, NeedsNoNetwork) {
  const std::string page = render(oneFinding());
  for (const char* word : {" src=", "@import", "url(http", "<link"})
    EXPECT_THAT(page, Not(HasSubstr(word))) << word;
  EXPECT_THAT(page, HasSubstr("default-src 'none'"));
}

TEST(Html, TimesOnlyWhereTheyAreAskedFor) {
  EXPECT_THAT(render(oneFinding()), Not(HasSubstr(" warp instructions")));
  EXPECT_THAT(render(oneFinding(), /*show_stats=*/true), HasSubstr(" warp instructions"));
}

TEST(Html, TraceStandsInWhereThereIsNoPicture) {
  EXPECT_THAT(render(oneFinding()), HasSubstr("thread (0,0,0) issues a copy"));
}

TEST(Html, PictureHasItsSteps) {
  Report report = oneFinding();
  diagnose::Picture picture;
  picture.end = 2;
  picture.lanes = {{diagnose::Picture::LaneKind::kThread, "thread (1,0,0)", "reads"}};
  picture.marks = {
      {0, 0, diagnose::Picture::Mark::Kind::kIssue, "cp.async", "thread (1,0,0) copies", {}, true},
      {0, 1, diagnose::Picture::Mark::Kind::kAccess, "read", "thread (1,0,0) reads <x>", {}, true}};
  picture.edges = {{diagnose::Picture::Edge::Kind::kMissing, {0, 0}, {0, 1}, "no wait"}};
  report.files[0].kernels[0].findings[0].picture = std::make_shared<const diagnose::Picture>(picture);
  const std::string page = render(report);
  EXPECT_THAT(page, HasSubstr("thread (1,0,0) reads &lt;x&gt;"));
  EXPECT_THAT(page, HasSubstr(">no wait</text>"));
  EXPECT_THAT(page, Not(HasSubstr("issues a copy"))) << "the steps are those of the picture";
}

TEST(Html, FileThatCouldNotBeReadIsSaid) {
  Report report;
  FileReport file;
  file.path = "gone.cu";
  file.error = Error{"no such file", {}};
  report.files = {file};
  report.end.totals.add(file);
  EXPECT_THAT(render(report), HasSubstr("<code>gone.cu</code> no such file"));
}

}  // namespace
}  // namespace handoff::report
