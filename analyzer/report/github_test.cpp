// SPDX-License-Identifier: Apache-2.0
#include "analyzer/report/github.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace handoff::report {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

diagnose::Finding findingAt(std::uint32_t line, std::string message = "'rows' is read") {
  diagnose::Finding finding;
  finding.rule = "missing-wait";
  finding.message = std::move(message);
  finding.stack = {{{"/p/src/a.cu", line, 5}, "k"}};
  return finding;
}

Report reportWith(std::vector<diagnose::Finding> findings) {
  Report report;
  report.files.resize(1);
  report.files[0].path = "/p/src/a.cu";
  report.files[0].kernels.resize(1);
  report.files[0].kernels[0].pretty = "k()";
  report.files[0].kernels[0].pos = {"/p/src/a.cu", 2, 1};
  report.files[0].kernels[0].verdict = diagnose::Verdict::kViolation;
  report.files[0].kernels[0].findings = std::move(findings);
  report.end.totals.add(report.files[0]);
  return report;
}

std::string rendered(const Report& report, bool is_quiet = false) {
  return renderGithub(report, Paths("/p", {}), {.is_quiet = is_quiet});
}

TEST(Github, FindingIsACommandOfOneLine) {
  diagnose::Finding finding = findingAt(12);
  finding.related = {{"the copy is here", {{{"/p/src/a.cu", 9, 1}, "k"}}}};
  const std::string text = rendered(reportWith({finding}));
  EXPECT_EQ(text.substr(0, text.find('\n')),
            "::error file=src/a.cu,line=12,col=5,title=handoff missing-wait::'rows' is read%0A"
            "the copy is here (src/a.cu:9)%0Akernel: k()");
}

TEST(Github, SpecialCharactersAreEscaped) {
  diagnose::Finding finding = findingAt(12, "100%\r\nof a,b:c");
  finding.stack[0].pos.file = "/p/a,b:c%.cu";
  EXPECT_THAT(
      rendered(reportWith({finding})),
      StartsWith(
          "::error file=a%2Cb%3Ac%25.cu,line=12,col=5,title=handoff missing-wait::100%25%0D%0Aof a,b:c%0A"));
}

TEST(Github, KindFollowsTheSeverity) {
  diagnose::Finding warning = findingAt(1), possible = findingAt(2), other = findingAt(3);
  warning.severity = diagnose::Severity::kWarning;
  possible.severity = diagnose::Severity::kPossible;
  other.is_for_other_launches = true;
  const std::string text = rendered(reportWith({warning, possible, other}));
  EXPECT_THAT(text, HasSubstr("::warning file=src/a.cu,line=1,"));
  EXPECT_THAT(text, HasSubstr("::notice file=src/a.cu,line=2,col=5,title=handoff missing-wait (possible)::"));
  EXPECT_THAT(text,
              HasSubstr("::notice file=src/a.cu,line=3,col=5,title=handoff missing-wait (other launches)::"));
}

TEST(Github, BoundedKernelsAreNoticesUnlessQuiet) {
  Report report = reportWith({});
  report.files[0].kernels[0].verdict = diagnose::Verdict::kBounded;
  report.files[0].kernels[0].limits = {{"no launch fixes 'n'", {}}};
  const std::string wanted =
      "::notice file=src/a.cu,line=2,col=1,title=handoff bounded::k() is bounded, not verified%0A"
      "limit: no launch fixes 'n'\n";
  EXPECT_THAT(rendered(report), StartsWith(wanted));
  EXPECT_THAT(rendered(report, true), Not(HasSubstr("::notice")));
}

TEST(Github, FailuresAreErrors) {
  Report report = reportWith({});
  report.files[0].error = Error{"cannot be read", {}};
  EXPECT_THAT(rendered(report, true), StartsWith("::error file=src/a.cu,title=handoff::cannot be read\n"));
  report.files[0].error.reset();
  report.files[0].kernels[0].verdict = diagnose::Verdict::kError;
  report.files[0].kernels[0].error = "it has no launch";
  EXPECT_THAT(rendered(report, true),
              StartsWith("::error file=src/a.cu,line=2,col=1,title=handoff::k() was not checked"));
}

TEST(Github, SaysWhenTheRunnerShowsLess) {
  std::vector<diagnose::Finding> findings;
  for (std::uint32_t line = 1; line <= 10; ++line) findings.push_back(findingAt(line));
  EXPECT_THAT(rendered(reportWith(findings)), Not(HasSubstr("this log has all")));
  findings.push_back(findingAt(11));
  EXPECT_THAT(rendered(reportWith(findings)),
              HasSubstr("handoff: 11 errors; GitHub shows 10 of a kind for each step"));
}

}  // namespace
}  // namespace handoff::report
