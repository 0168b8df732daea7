// SPDX-License-Identifier: Apache-2.0
// Kernels that go by data in memory: correct ones are verified, others have findings that are possible, no more.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "analyzer/tests/analysis.h"
#include "analyzer/tests/repository.h"

namespace handoff::tests {
namespace {

using diagnose::Finding;
using diagnose::KernelReport;
using diagnose::Severity;
using diagnose::Verdict;

bool goesByData(const Case& item) { return item.path.find("_data_") != std::string::npos; }

/// One word, the same for all threads and written by none, is an input like a size: both its sides are run.
bool goesByOneWord(const Case& item) { return item.path.find("_data_chooses_barrier") != std::string::npos; }

/// What data decide on in these cases is a step of the protocol: the others are never verified.
bool decidesOnProtocol(const Case& item) {
  return item.path.find("_data_decides_") != std::string::npos || item.path.find("_data_chooses_") != std::string::npos;
}

std::vector<Case> casesByData() {
  std::vector<Case> cases;
  for (const Case& item : allCases())
    if (goesByData(item)) cases.push_back(item);
  return cases;
}

class DataTest : public testing::TestWithParam<Case> {};

TEST_P(DataTest, IsVerifiedOrPossible) {
  const Case& item = GetParam();
  if (needsToolkit("testcases/" + item.path) && !hasToolkit()) GTEST_SKIP() << "no toolkit is installed";
  explore::Options options;
  options.try_repairs = false;
  const std::vector<KernelReport> kernels = analyzeCase(item.path, item.arch, frontend::Choice::kClang, options);
  ASSERT_EQ(kernels.size(), 1u);
  const KernelReport& kernel = kernels[0];
  const bool is_verified = !item.isBad() && (!decidesOnProtocol(item) || goesByOneWord(item));
  EXPECT_EQ(kernel.verdict, is_verified ? Verdict::kVerified : Verdict::kBounded);
  EXPECT_EQ(kernel.limits.empty(), is_verified);
  const Severity expected = decidesOnProtocol(item) ? Severity::kNote : Severity::kPossible;
  const auto isExpected = [&](const Finding& finding) { return finding.severity == expected; };
  const bool is_found = std::any_of(kernel.findings.begin(), kernel.findings.end(), isExpected);
  EXPECT_EQ(is_found, item.isBad());
  for (const Finding& finding : kernel.findings) {
    EXPECT_NE(finding.severity, Severity::kError) << "nothing is certain here";
    EXPECT_NE(finding.severity, Severity::kWarning);
  }
}

INSTANTIATE_TEST_SUITE_P(Cases, DataTest, testing::ValuesIn(casesByData()), [](const testing::TestParamInfo<Case>& info) {
  std::string name = info.param.path;
  std::replace_if(name.begin(), name.end(), [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
  return name;
});

}  // namespace
}  // namespace handoff::tests
