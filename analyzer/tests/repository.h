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

/// nvcc is on PATH, in /usr/local/cuda or where CUDA_HOME says.
bool hasToolkit();
/// The file includes more than the declarations that come with Handoff.
bool needsToolkit(const std::string& file);

}  // namespace handoff::tests
