// SPDX-License-Identifier: Apache-2.0
// Every kernel of testcases/sizes/sizes.tsv through the Clang front end and the whole analysis, without a
// word about its sizes: which sizes are wrong, and which loops close, the analysis has to find out.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <regex>
#include <set>
#include <sstream>

#include "analyzer/tests/analysis.h"
#include "analyzer/tests/repository.h"

namespace handoff::tests {
namespace {

using diagnose::Finding;
using diagnose::KernelReport;
using diagnose::Severity;
using diagnose::Verdict;

bool isInteger(std::string_view text) {
  long long value = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
  return status == std::errc() && end == text.data() + text.size();
}

/// The text of --launch for the launch and the parameters of a witness.
std::string launchOf(const diagnose::Witness& witness) {
  std::string text = witness.launch;
  std::erase_if(text, [](char c) { return c == '(' || c == ')'; });
  for (const auto& [name, value] : witness.parameters) {
    const std::string number = value.substr(0, value.find(' '));  // without " (assumed)"
    if (isInteger(number) && name.find(' ') == std::string::npos)
      text.append(" ").append(name).append("=").append(number);
  }
  return text;
}

/// "total=5 grid=4" -> {"total"}: the parameters that a size names.
std::set<std::string> parametersOf(const std::string& size) {
  std::set<std::string> names;
  std::stringstream fields(size);
  for (std::string field; fields >> field;) names.insert(field.substr(0, field.find('=')));
  for (const char* extent : {"grid", "block", "cluster", "smem"}) names.erase(extent);
  return names;
}

std::string describe(const KernelReport& kernel) {
  std::string text = std::string(toString(kernel.verdict)) + "\n" + tests::describe(kernel.findings);
  for (const diagnose::Limit& limit : kernel.limits)
    text += "  limit: " + limit.reason + " (line " + std::to_string(limit.pos.line) + ")\n";
  for (const std::string& what : kernel.holds_for) text += "  holds for: " + what + "\n";
  return text;
}

class SizesTest : public testing::TestWithParam<SizeCase> {
 protected:
  void SetUp() override {
    if (needsToolkit(GetParam().file()) && !hasToolkit())
      GTEST_SKIP() << "the case includes headers of the CUDA toolkit, and no toolkit is installed";
  }

  /// The report of the only kernel; `launch` as in --launch, or "".
  KernelReport check(const std::string& launch) {
    explore::Options options;
    options.try_repairs = false;
    if (!launch.empty()) options.launches = {launch};
    options.explores_other_launches = launch.empty();
    options.max_seconds = 20;  // what is proved here is proved within a few
    std::vector<KernelReport> kernels =
        analyzeCase(GetParam().path, GetParam().arch, frontend::Choice::kClang, options);
    EXPECT_EQ(kernels.size(), 1u);
    return kernels.empty() ? KernelReport() : kernels.front();
  }

  /// With what the comment above the kernel fixes, and four blocks unless the size says something else.
  KernelReport checkSize(const std::string& size) {
    const std::string mark = "// handoff: launch ";
    std::string launch;
    for (const std::string& line : linesOf(GetParam().file()))
      if (line.starts_with(mark)) launch = line.substr(mark.size());
    EXPECT_NE(launch, "") << "no comment fixes the block";
    if ((launch + size).find("grid=") == std::string::npos) launch += " grid=4";
    return check(launch + " " + size);
  }

  bool isExpected(const Finding& finding) const {
    const std::vector<std::string>& rules = GetParam().rules;
    return finding.severity != Severity::kNote && finding.severity != Severity::kPossible &&
           std::count(rules.begin(), rules.end(), finding.rule) != 0;
  }

  bool hasExpected(const KernelReport& kernel) const {
    return std::any_of(kernel.findings.begin(), kernel.findings.end(),
                       [&](const Finding& finding) { return isExpected(finding); });
  }

  /// A finding of the rule, and a witness that shows it when it is run by itself.
  void expectViolation(const KernelReport& kernel) {
    EXPECT_EQ(kernel.verdict, Verdict::kViolation) << describe(kernel);
    const auto finding = std::find_if(kernel.findings.begin(), kernel.findings.end(),
                                      [&](const Finding& candidate) { return isExpected(candidate); });
    ASSERT_NE(finding, kernel.findings.end())
        << "expected " << GetParam().rules[0] << ", got " << describe(kernel);
    const std::string launch = launchOf(finding->witness);
    const KernelReport again = check(launch);
    EXPECT_TRUE(hasExpected(again)) << "the witness is no wrong size: " << launch << "\n" << describe(again);
  }

  void expectVerified(const KernelReport& kernel) {
    EXPECT_EQ(kernel.verdict, Verdict::kVerified) << describe(kernel);
    EXPECT_TRUE(kernel.findings.empty()) << describe(kernel);
    for (const std::string& size : GetParam().right_sizes)
      for (const std::string& name : parametersOf(size))
        EXPECT_THAT(kernel.holds_for, testing::Contains(testing::Truly([&](const std::string& what) {
                      return std::regex_search(what, std::regex("\\b" + name + "\\b"));
                    })))
            << name << "\n"
            << describe(kernel);
  }
};

/// A slow machine decides nothing.
bool hasRunOutOfTime(const KernelReport& kernel) {
  return std::any_of(kernel.limits.begin(), kernel.limits.end(), [](const diagnose::Limit& limit) {
    return limit.reason.find("in time") != std::string::npos || limit.reason.find("of time") != std::string::npos ||
           limit.reason.find("seconds") != std::string::npos;
  });
}

TEST_P(SizesTest, VerdictIsAsExpected) {
  const KernelReport kernel = check("");
  const bool is_undecided = kernel.verdict == Verdict::kBounded && hasRunOutOfTime(kernel);
  if (is_undecided && GetParam().expectation != "not-verified") GTEST_SKIP() << "out of time\n" << describe(kernel);
  if (GetParam().expectation == "violation") {
    expectViolation(kernel);
  } else if (GetParam().expectation == "verified") {
    expectVerified(kernel);
  } else if (GetParam().expectation == "silent") {
    // Right for all sizes, though no proof is found.
    EXPECT_TRUE(kernel.findings.empty()) << describe(kernel);
  } else {
    ASSERT_EQ(GetParam().expectation, "not-verified");
    EXPECT_NE(kernel.verdict, Verdict::kVerified) << describe(kernel);
  }
}

/// The table is right about the sizes; a run that is too long, or depends on unknown data, says nothing.
TEST_P(SizesTest, SizesAreWrongAndRight) {
  if (const std::string& size = GetParam().wrong_size; !size.empty()) {
    const KernelReport kernel = checkSize(size);
    const bool may_be_undecided = GetParam().expectation == "not-verified" && !kernel.limits.empty();
    EXPECT_TRUE(hasExpected(kernel) || may_be_undecided) << size << ": " << describe(kernel);
  }
  for (const std::string& size : GetParam().right_sizes) {
    const KernelReport kernel = checkSize(size);
    EXPECT_NE(kernel.verdict, Verdict::kViolation) << size << ": " << describe(kernel);
  }
}

std::string testName(const testing::TestParamInfo<SizeCase>& info) {
  std::string name = info.param.path.substr(0, info.param.path.find(".cu"));
  std::replace_if(
      name.begin(), name.end(), [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(sizes, SizesTest, testing::ValuesIn(allSizeCases()), testName);

}  // namespace

void PrintTo(const SizeCase& item, std::ostream* out) { *out << item.path; }

}  // namespace handoff::tests
