// SPDX-License-Identifier: Apache-2.0
// The programs of testcases/async_work_group: all 9 correct ones are verified, all 18 wrong ones violations.
#include <gtest/gtest.h>

#include <algorithm>

#include "analyzer/tests/analysis.h"
#include "analyzer/tests/repository.h"

namespace handoff::tests {
namespace {

using diagnose::KernelReport;
using diagnose::Verdict;

std::vector<Case> workGroupCases() {
  std::vector<Case> cases = allCases();
  std::erase_if(cases, [](const Case& item) { return !item.path.starts_with("async_work_group/"); });
  return cases;
}

class WorkGroupCopyTest : public testing::TestWithParam<Case> {};

TEST_P(WorkGroupCopyTest, IsVerifiedOrAViolation) {
  const Case& item = GetParam();
  explore::Options options;
  options.try_repairs = false;
  for (const KernelReport& kernel : analyzeCase(item.path, item.arch, frontend::Choice::kClang, options)) {
    EXPECT_EQ(kernel.verdict, item.isBad() ? Verdict::kViolation : Verdict::kVerified);
    const auto counts = [](const diagnose::Finding& finding) { return !finding.is_for_other_launches; };
    EXPECT_EQ(std::any_of(kernel.findings.begin(), kernel.findings.end(), counts), item.isBad());
  }
}

TEST(WorkGroupCopy, NineAreRightAndEighteenAreWrong) {
  const std::vector<Case> cases = workGroupCases();
  EXPECT_EQ(std::count_if(cases.begin(), cases.end(), [](const Case& item) { return item.isBad(); }), 18);
  EXPECT_EQ(cases.size(), 27u);
}

INSTANTIATE_TEST_SUITE_P(Cases, WorkGroupCopyTest, testing::ValuesIn(workGroupCases()),
                         [](const testing::TestParamInfo<Case>& info) {
                           std::string name = info.param.path.substr(0, info.param.path.find('.'));
                           std::replace(name.begin(), name.end(), '/', '_');
                           return name;
                         });

}  // namespace
}  // namespace handoff::tests
