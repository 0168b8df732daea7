// SPDX-License-Identifier: Apache-2.0
#include "analyzer/report/groups.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analyzer/report/text.h"

namespace handoff::report {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

diagnose::Finding findingAt(std::uint32_t line) {
  diagnose::Finding finding;
  finding.rule = "missing-wait";
  finding.message = "slot is read here";
  finding.stack = {{{"/usr/local/cuda/include/cuda_pipeline.h", 9, 1}, "wait"}, {{"/p/a.cu", line, 9}, "k"}};
  finding.related = {{"the copy", {{{"/p/a.cu", 12, 5}, "k"}}}};
  return finding;
}

class Groups : public testing::Test {
 protected:
  Groups() {
    file_.path = "/p/a.cu";
    for (const char* name : {"k<1>()", "k<2>()", "k<3>()"}) {
      diagnose::KernelReport& kernel = file_.kernels.emplace_back();
      kernel.pretty = name;
      kernel.has_async = true;
      kernel.verdict = diagnose::Verdict::kViolation;
      kernel.findings = {findingAt(31)};
    }
  }
  diagnose::Finding& finding(std::size_t kernel) { return file_.kernels[kernel].findings[0]; }
  GroupIds groups() const { return groupFindings(file_, Paths("/p", {})); }
  std::string text() {
    SourceLines sources;
    return renderText(file_, Paths("/p", {}), sources, {});
  }

  FileReport file_;
};

TEST_F(Groups, InstancesOfATemplateAreOneGroup) {
  EXPECT_THAT(groups(), ElementsAre(ElementsAre(1), ElementsAre(1), ElementsAre(1)));
  finding(1).stack[1].pos.column = 3;
  finding(1).message = "another slot is read here";
  finding(1).witness.launch = "grid=(2,1,1)";
  EXPECT_THAT(groups(), ElementsAre(ElementsAre(1), ElementsAre(1), ElementsAre(1)));
}

TEST_F(Groups, AnotherLineRuleOrCauseIsAnotherGroup) {
  finding(1) = findingAt(32);
  finding(2).related[0].stack[0].pos.line = 14;
  EXPECT_THAT(groups(), ElementsAre(ElementsAre(1), ElementsAre(2), ElementsAre(3)));
  finding(1) = findingAt(31);
  finding(1).rule = "hang";
  finding(2) = findingAt(31);
  EXPECT_THAT(groups(), ElementsAre(ElementsAre(1), ElementsAre(2), ElementsAre(1)));
}

TEST_F(Groups, WhatCountsDifferentlyIsAnotherGroup) {
  finding(1).severity = diagnose::Severity::kPossible;
  finding(2).is_for_other_launches = true;
  EXPECT_THAT(groups(), ElementsAre(ElementsAre(1), ElementsAre(2), ElementsAre(3)));
}

TEST_F(Groups, AHelperCalledFromTwoKernelsIsTwoGroups) {
  finding(0).stack.push_back({{"/p/a.cu", 50, 1}, "k"});
  finding(1).stack.push_back({{"/p/a.cu", 60, 1}, "other"});
  EXPECT_THAT(groups()[0], Not(groups()[1]));
}

TEST_F(Groups, TextShowsTheFirstAndNamesTheRest) {
  const std::string shown = text();
  EXPECT_THAT(shown,
              HasSubstr("  also in 2 other instances: k<2>(), k<3>()\nviolation: k<1>(), 1 finding\n"));
  EXPECT_EQ(shown.find("[missing-wait]"), shown.rfind("[missing-wait]"));
  EXPECT_THAT(shown, HasSubstr("violation: k<3>(), 1 finding\n")) << "each kernel keeps its verdict";
}

TEST_F(Groups, RepeatsInOneKernelAreCounted) {
  file_.kernels.resize(1);
  EXPECT_THAT(text(), Not(HasSubstr("also")));
  file_.kernels[0].findings.resize(2, findingAt(31));
  EXPECT_THAT(text(), HasSubstr("  also once more in this kernel\n"));
  file_.kernels[0].findings.resize(4, findingAt(31));
  EXPECT_THAT(text(), HasSubstr("  also 3 more times in this kernel\n"));
}

TEST_F(Groups, LongListsAreCut) {
  file_.kernels.resize(8, file_.kernels[0]);
  EXPECT_THAT(text(), HasSubstr("also in 7 other instances: k<2>(), k<3>(), k<1>(), k<1>(), ...\n"));
}

}  // namespace
}  // namespace handoff::report
