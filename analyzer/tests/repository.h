// SPDX-License-Identifier: Apache-2.0
// Reading the repository's own files in tests.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace handoff::tests {

/// The top folder of the sources.
std::filesystem::path repositoryRoot();

/// Files below `folder` (relative to the root) whose name ends in one of `suffixes`, relative to the root,
/// sorted.
std::vector<std::string> filesBelow(const std::string& folder, const std::vector<std::string>& suffixes);

/// Lines of a file relative to the root; a test failure when it cannot be read.
std::vector<std::string> linesOf(const std::string& file);

std::string textOf(const std::string& file);

/// One row of testcases/cases.tsv.
struct Case {
  std::string path, rule;
  std::vector<std::string> also_acceptable;
  unsigned bug_line = 0;
  std::vector<unsigned> also_lines;
  std::string arch;
  std::vector<std::string> frontends;
  bool is_active = false;

  bool isBad() const { return rule != "none"; }
};

std::vector<Case> allCases();

/// One row of testcases/sizes/sizes.tsv.
struct SizeCase {
  std::string path;
  std::string expectation;         ///< "violation", "not-verified", "silent" or "verified"
  std::vector<std::string> rules;  ///< the rule of the defect, and others that describe it; none for "verified"
  std::string wrong_size;          ///< a small one, as "tiles=1" or "total=5 grid=4"; "" for "verified"
  std::vector<std::string> right_sizes;
  std::string arch;

  std::string file() const { return "testcases/" + path; }
};

std::vector<SizeCase> allSizeCases();

/// What a line of an audit case says: "// PERF: <rule>..." is advice at that line, "// BECOMES: <text>" the beginning of
/// what the call there becomes.
struct AuditMark {
  unsigned line = 0;
  bool becomes = false;
  std::string text;
};

/// One row of testcases/audit/audit.tsv.
struct AuditCase {
  std::string path;
  std::string arch;
  std::vector<std::string> frontends;

  std::string file() const { return "testcases/" + path; }
  std::vector<AuditMark> marks() const;
};

std::vector<AuditCase> allAuditCases();

}  // namespace handoff::tests
