// SPDX-License-Identifier: Apache-2.0
// Reading the repository's own files in tests.
#include "analyzer/tests/repository.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <sstream>

namespace handoff::tests {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::stringstream stream(text);
  for (std::string part; std::getline(stream, part, separator);)
    if (part != "-" && !part.empty()) parts.push_back(part);
  return parts;
}

std::vector<std::string> cellsOf(const std::string& row, std::size_t count) {
  std::vector<std::string> cells;
  std::stringstream stream(row);
  for (std::string cell; std::getline(stream, cell, '\t');) cells.push_back(cell);
  cells.resize(count);
  return cells;
}

Case caseFromRow(const std::string& row) {
  const std::vector<std::string> cells = cellsOf(row, 8);
  Case result;
  result.path = cells[0];
  result.rule = cells[1];
  result.also_acceptable = split(cells[2], ',');
  if (cells[3] != "-") result.bug_line = static_cast<unsigned>(std::stoul(cells[3]));
  for (const std::string& line : split(cells[4], ','))
    result.also_lines.push_back(static_cast<unsigned>(std::stoul(line)));
  result.arch = cells[5];
  result.frontends = split(cells[6], ',');
  result.is_active = cells[7] == "active";
  return result;
}

SizeCase sizeCaseFromRow(const std::string& row) {
  const std::vector<std::string> cells = cellsOf(row, 6);
  SizeCase result;
  result.path = cells[0];
  result.expectation = cells[1];
  result.rules = split(cells[2], ',');
  if (cells[3] != "-") result.wrong_size = cells[3];
  result.right_sizes = split(cells[4], ';');
  result.arch = cells[5];
  return result;
}

}  // namespace

fs::path repositoryRoot() { return HANDOFF_SOURCE_DIR; }

std::vector<std::string> filesBelow(const std::string& folder, const std::vector<std::string>& suffixes) {
  std::vector<std::string> files;
  const fs::path root = repositoryRoot();
  if (!fs::exists(root / folder)) return files;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(root / folder)) {
    const std::string name = entry.path().generic_string();
    const bool is_wanted = std::any_of(suffixes.begin(), suffixes.end(),
                                       [&](const std::string& suffix) { return name.ends_with(suffix); });
    if (entry.is_regular_file() && is_wanted)
      files.push_back(fs::relative(entry.path(), root).generic_string());
  }
  std::sort(files.begin(), files.end());
  return files;
}

std::vector<std::string> linesOf(const std::string& file) {
  std::ifstream stream(repositoryRoot() / file);
  EXPECT_TRUE(stream.good()) << file << " cannot be read";
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

std::string textOf(const std::string& file) {
  std::string text;
  for (const std::string& line : linesOf(file)) text += line + "\n";
  return text;
}

std::vector<Case> allCases() {
  std::vector<Case> cases;
  const std::vector<std::string> lines = linesOf("testcases/cases.tsv");
  for (std::size_t i = 1; i < lines.size(); ++i) cases.push_back(caseFromRow(lines[i]));
  return cases;
}

std::vector<SizeCase> allSizeCases() {
  std::vector<SizeCase> cases;
  const std::vector<std::string> lines = linesOf("testcases/sizes/sizes.tsv");
  for (std::size_t i = 1; i < lines.size(); ++i) cases.push_back(sizeCaseFromRow(lines[i]));
  return cases;
}

std::vector<AuditMark> AuditCase::marks() const {
  std::vector<AuditMark> marks;
  unsigned number = 0;
  for (const std::string& line : linesOf(file())) {
    ++number;
    if (const std::size_t at = line.find("// PERF: "); at != std::string::npos)
      for (const std::string& rule : split(line.substr(at + 9), ' ')) marks.push_back({number, false, rule});
    if (const std::size_t at = line.find("// BECOMES: "); at != std::string::npos)
      marks.push_back({number, true, line.substr(at + 12)});
  }
  return marks;
}

std::vector<AuditCase> allAuditCases() {
  std::vector<AuditCase> cases;
  const std::vector<std::string> lines = linesOf("testcases/audit/audit.tsv");
  for (std::size_t i = 1; i < lines.size(); ++i) {
    const std::vector<std::string> cells = cellsOf(lines[i], 3);
    cases.push_back({cells[0], cells[1], split(cells[2], ',')});
  }
  return cases;
}

}  // namespace handoff::tests
