// SPDX-License-Identifier: Apache-2.0
// Every bad case with its repair applied to the source, compiled and analysed again.
//
// One test with threads of its own instead of one a case: the shares that it asks for are about all of them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <set>
#include <thread>

#include "analyzer/explore/analyze.h"
#include "analyzer/frontend/input.h"
#include "analyzer/report/apply_repairs.h"
#include "analyzer/tests/analysis.h"
#include "analyzer/tests/repository.h"

namespace handoff::tests {
namespace {

namespace fs = std::filesystem;
using diagnose::Finding;
using diagnose::KernelReport;
using diagnose::Severity;

/// Of the cases that are run: with a repair, and with one as lines of source.
constexpr double kMinOffered = 0.85, kMinInSource = 0.82;

struct Outcome {
  enum class Kind : std::uint8_t { kNone, kText, kSource } kind = Kind::kNone;
  bool is_clean = false;  ///< kSource: no finding is left
  std::vector<std::string> left;  ///< kSource: those that are
  std::string failure;    ///< why an offered repair is none
};

Result<std::vector<KernelReport>> analyse(const std::string& file, const Case& item, bool tries_repairs) {
  frontend::Options options;
  options.frontend = frontend::Choice::kClang;
  options.arch = item.arch;
  options.has_fixed_flags = true;
  options.extra_args = {"-std=c++17"};
  Result<frontend::Unit> unit = frontend::load(file, options);
  if (!unit) return unit.error();
  explore::Options how;
  how.explores_other_launches = false;  // of no weight for a repair
  how.try_repairs = tries_repairs;
  std::vector<KernelReport> kernels = explore::analyze(*unit, how);
  for (const KernelReport& kernel : kernels) {
    if (kernel.verdict == diagnose::Verdict::kError) return Error{kernel.error, kernel.pos};
  }
  return kernels;
}

std::vector<Finding> findingsOf(const std::vector<KernelReport>& kernels) {
  std::vector<Finding> findings;
  for (const KernelReport& kernel : kernels) findings.insert(findings.end(), kernel.findings.begin(), kernel.findings.end());
  return findings;
}

std::set<std::string> rulesOf(const std::vector<Finding>& findings) {
  std::set<std::string> rules;
  for (const Finding& finding : findings) rules.insert(finding.rule);
  return rules;
}

void writeFile(const fs::path& file, const std::string& text) {
  fs::create_directories(file.parent_path());
  std::ofstream(file, std::ios::binary) << text;
}

Outcome checkCase(const Case& item, const fs::path& folder) {
  Outcome outcome;
  // A copy from the start: positions are then those of the file that is changed.
  const std::string file = (folder / item.path).string();
  const std::string text = textOf("testcases/" + item.path);
  writeFile(file, text);
  const auto before = analyse(file, item, /*tries_repairs=*/true);
  if (!before) {
    outcome.failure = toString(before.error());
    return outcome;
  }
  const std::vector<Finding> findings = findingsOf(*before);
  for (const Finding& finding : findings) {
    if (finding.repair) outcome.kind = Outcome::Kind::kText;
  }
  const auto repaired = report::applyRepairs(text, file, findings);
  if (!repaired) {
    outcome.failure = toString(repaired.error());
    return outcome;
  }
  if (repaired->applied == 0) return outcome;
  outcome.kind = Outcome::Kind::kSource;
  writeFile(file, repaired->text);
  const auto after = analyse(file, item, /*tries_repairs=*/false);
  if (!after) {
    outcome.failure = "after the repair: " + toString(after.error());
    return outcome;
  }
  const std::vector<Finding> left = findingsOf(*after);
  const std::set<std::string> known = rulesOf(findings);
  for (const Finding& finding : left) {
    const bool is_repaired = std::any_of(findings.begin(), findings.end(), [&](const Finding& old) {
      return old.repair && !old.repair->changes.empty() && old.rule == finding.rule && old.message == finding.message;
    });
    if (is_repaired) outcome.failure = "still there: " + finding.rule + ": " + finding.message;
    if (!known.contains(finding.rule)) outcome.failure = "new: " + finding.rule + ": " + finding.message;
  }
  outcome.is_clean = left.empty();
  for (const Finding& finding : left) outcome.left.push_back(finding.rule + ": " + finding.message);
  return outcome;
}

std::vector<Case> casesToRun() {
  std::vector<Case> cases = allCases();
  const bool has_toolkit = hasToolkit();
  std::erase_if(cases, [&](const Case& item) {
    const bool is_clang = std::count(item.frontends.begin(), item.frontends.end(), "clang") != 0;
    return !item.is_active || !item.isBad() || !is_clang || (!has_toolkit && needsToolkit("testcases/" + item.path));
  });
  return cases;
}

TEST(RepairsOfCases, HoldInTheSource) {
  const std::vector<Case> cases = casesToRun();
  ASSERT_FALSE(cases.empty());
  const fs::path folder = fs::temp_directory_path() / ("handoff_repairs_" + std::to_string(getpid()));
  std::vector<Outcome> outcomes(cases.size());
  std::atomic<std::size_t> next = 0;
  const auto work = [&] {
    for (std::size_t i = next++; i < cases.size(); i = next++) outcomes[i] = checkCase(cases[i], folder);
  };
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < std::clamp(std::thread::hardware_concurrency(), 1U, 4U); ++i) threads.emplace_back(work);
  for (std::thread& thread : threads) thread.join();
  fs::remove_all(folder);

  // The programs of a peer's suite hand over wrong pointers and arguments, too, which no edit of the protocol mends: what
  // is offered for them has to hold, but the shares are those of the other cases.
  std::size_t counted = 0, offered = 0, in_source = 0, clean = 0;
  std::map<std::string, std::pair<std::size_t, std::size_t>> by_rule;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const Outcome& outcome = outcomes[i];
    EXPECT_TRUE(outcome.failure.empty()) << cases[i].path << ": " << outcome.failure;
    EXPECT_THAT(outcome.left, testing::IsEmpty()) << cases[i].path;
    if (cases[i].path.starts_with("async_work_group/")) continue;
    ++counted;
    offered += outcome.kind != Outcome::Kind::kNone ? 1 : 0;
    in_source += outcome.kind == Outcome::Kind::kSource ? 1 : 0;
    clean += outcome.is_clean ? 1 : 0;
    ++by_rule[cases[i].rule].second;
    by_rule[cases[i].rule].first += outcome.kind != Outcome::Kind::kNone ? 1 : 0;
  }
  std::cout << counted << " bad cases: a repair for " << offered << ", as source for " << in_source << ", nothing left in " << clean << "\n";
  for (const auto& [rule, counts] : by_rule) std::cout << "  " << rule << ": " << counts.first << " of " << counts.second << "\n";
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const Outcome& outcome = outcomes[i];
    if (outcome.kind == Outcome::Kind::kNone) std::cout << "  none: " << cases[i].path << "\n";
    if (outcome.kind == Outcome::Kind::kText) std::cout << "  not as source: " << cases[i].path << "\n";
  }
  EXPECT_GE(static_cast<double>(offered), kMinOffered * static_cast<double>(counted));
  EXPECT_GE(static_cast<double>(in_source), kMinInSource * static_cast<double>(counted));
}

}  // namespace
}  // namespace handoff::tests
