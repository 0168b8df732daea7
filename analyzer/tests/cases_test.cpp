// SPDX-License-Identifier: Apache-2.0
// Every active case of testcases/cases.tsv through the whole analysis, in process, with Clang and with nvcc.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <iostream>
#include <set>

#include "analyzer/report/paths.h"
#include "analyzer/tests/analysis.h"
#include "analyzer/tests/repository.h"

namespace handoff::tests {
namespace {

using diagnose::Finding;
using diagnose::KernelReport;
using diagnose::Severity;
using frontend::Choice;

class Verdicts {
 public:
  explicit Verdicts(const Case& item) : item_(item), paths_("", {}) {}

  bool isAcceptable(const std::string& rule) const {
    return rule == item_.rule ||
           std::count(item_.also_acceptable.begin(), item_.also_acceptable.end(), rule) != 0;
  }

  /// The finding's own position, a frame of its stack or a related position is on the marked line, or its own
  /// position is on a line that is reasonable instead.
  bool isAtMark(const Finding& finding) const {
    if (touches(finding, {item_.bug_line})) return true;
    const SourcePos own = paths_.ownPos(finding.stack);
    return std::count(item_.also_lines.begin(), item_.also_lines.end(), own.line) != 0;
  }

  /// Any position of the finding is on the marked line or on one of the lines that take part in the defect.
  bool isRelated(const Finding& finding) const {
    std::set<unsigned> lines(item_.also_lines.begin(), item_.also_lines.end());
    lines.insert(item_.bug_line);
    return touches(finding, lines);
  }

 private:
  bool touches(const Finding& finding, const std::set<unsigned>& lines) const {
    const auto in_stack = [&](const SourceStack& stack) {
      return std::any_of(stack.begin(), stack.end(), [&](const SourceFrame& frame) {
        return lines.count(frame.pos.line) != 0 && frame.pos.file.ends_with(item_.path);
      });
    };
    return in_stack(finding.stack) ||
           std::any_of(finding.related.begin(), finding.related.end(),
                       [&](const auto& related) { return in_stack(related.stack); });
  }

  const Case& item_;
  report::Paths paths_;
};

class CaseTest : public testing::TestWithParam<Case> {
 protected:
  /// All findings of the file through one front end.
  std::vector<Finding> check(Choice choice) {
    explore::Options options;
    options.explores_other_launches = choice == Choice::kClang;  // once is enough
    std::vector<Finding> findings;
    for (const KernelReport& kernel : analyzeCase(GetParam().path, GetParam().arch, choice, options))
      findings.insert(findings.end(), kernel.findings.begin(), kernel.findings.end());
    std::erase_if(findings, [](const Finding& finding) { return finding.is_for_other_launches; });
    return findings;
  }

  void expectMarkedFinding(const std::vector<Finding>& findings) {
    const Verdicts verdicts(GetParam());
    const bool is_found = std::any_of(findings.begin(), findings.end(), [&](const Finding& finding) {
      return verdicts.isAcceptable(finding.rule) && verdicts.isAtMark(finding);
    });
    EXPECT_TRUE(is_found) << "expected " << GetParam().rule << " at line " << GetParam().bug_line << ", got\n"
                          << describe(findings);
    for (const Finding& finding : findings) {
      if (finding.severity == Severity::kError) {
        EXPECT_TRUE(verdicts.isRelated(finding)) << "unrelated: " << describe(finding);
      }
    }
  }

  void expectAsMarked(const std::vector<Finding>& findings) {
    if (GetParam().isBad()) {
      expectMarkedFinding(findings);
    } else {
      EXPECT_TRUE(findings.empty()) << "the kernel is correct, got\n" << describe(findings);
    }
  }
};

/// (rule, line in the kernel): front ends place statements of inlined functions differently.
std::set<std::pair<std::string, unsigned>> rulesAndLines(const std::vector<Finding>& findings) {
  std::set<std::pair<std::string, unsigned>> result;
  for (const Finding& finding : findings)
    if (finding.severity != Severity::kNote)
      result.insert({finding.rule, finding.stack.empty() ? 0 : finding.stack.back().pos.line});
  return result;
}

bool runsThrough(const Case& item, const std::string& frontend) {
  return std::count(item.frontends.begin(), item.frontends.end(), frontend) != 0;
}

TEST_P(CaseTest, IsAsMarked) {
  const bool has_toolkit = hasToolkit();
  if (!has_toolkit && needsToolkit("testcases/" + GetParam().path))
    GTEST_SKIP() << "the case includes headers of the CUDA toolkit, and no toolkit is installed";

  std::vector<Finding> with_clang, with_nvcc;
  const bool uses_clang = runsThrough(GetParam(), "clang");
  bool uses_nvcc = runsThrough(GetParam(), "nvcc");
  if (uses_nvcc && !has_toolkit) {
    std::cout << "nvcc is not installed: only Clang's PTX was checked\n";
    uses_nvcc = false;
  }
  if (uses_clang) {
    SCOPED_TRACE("Clang");
    with_clang = check(Choice::kClang);
    expectAsMarked(with_clang);
  }
  if (uses_nvcc) {
    SCOPED_TRACE("nvcc");
    with_nvcc = check(Choice::kNvcc);
    expectAsMarked(with_nvcc);
  }
  if (uses_clang && uses_nvcc) {
    EXPECT_EQ(rulesAndLines(with_clang), rulesAndLines(with_nvcc)) << "Clang:\n"
                                                                   << describe(with_clang) << "nvcc:\n"
                                                                   << describe(with_nvcc);
  }
}

std::vector<Case> activeCases() {
  std::vector<Case> cases = allCases();
  std::erase_if(cases, [](const Case& item) { return !item.is_active; });
  return cases;
}

std::string testName(const testing::TestParamInfo<Case>& info) {
  std::string name = info.param.path.substr(0, info.param.path.find(".cu"));
  std::replace_if(name.begin(), name.end(), [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(cases, CaseTest, testing::ValuesIn(activeCases()), testName);

}  // namespace

void PrintTo(const Case& item, std::ostream* out) { *out << item.path; }

}  // namespace handoff::tests
