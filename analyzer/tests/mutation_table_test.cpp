// SPDX-License-Identifier: Apache-2.0
// The tables of docs/mutation.md say what docs/mutation.json says, and no mutant lives on without a reason.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "analyzer/tests/repository.h"

namespace handoff::tests {
namespace {

namespace fs = std::filesystem;

/// The tool's exit code when it checks the repository in this folder.
int check(const fs::path& root) {
  const std::string command = "python3 '" + (root / "tools/mutation_table.py").string() + "' --check 2> /dev/null";
  const int status = std::system(command.c_str());
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

class MutationTable : public testing::Test {
 protected:
  void SetUp() override {
    if (std::system("python3 -c 'import sys; sys.exit(sys.version_info < (3, 9))' 2> /dev/null") != 0)
      GTEST_SKIP() << "python3 is not installed";
    fs::create_directories(root_ / "docs/gpu");
    fs::create_directories(root_ / "tools");
    for (const char* file : {"docs/mutation.md", "docs/mutation.json", "docs/mutation_reasons.tsv", "docs/gpu/mutants.json",
                             "docs/gpu/equivalent.json", "tools/mutation_table.py"})
      fs::copy_file(repositoryRoot() / file, root_ / file);
  }
  void TearDown() override { fs::remove_all(root_); }

  const fs::path root_ = fs::path(testing::TempDir()) / ("handoff_mutation_table_" + std::to_string(getpid()));
};

TEST_F(MutationTable, SaysWhatTheResultsSay) { EXPECT_EQ(check(root_), 0); }

TEST_F(MutationTable, StaleFigureIsSeen) {
  std::string text = textOf("docs/mutation.md");
  const std::size_t place = text.find("| **all** | ");
  ASSERT_NE(place, std::string::npos);
  text.insert(place + 12, "1");
  std::ofstream(root_ / "docs/mutation.md") << text;
  EXPECT_EQ(check(root_), 1);
}

/// What one of two processes said of the mutants of a case.
void writePart(const fs::path& folder, int part, const std::string& first, const std::string& second) {
  const std::string number = std::to_string(part);
  const auto mutant = [](const std::string& change) {
    return R"({"operator": "drop-wait", "change": ")" + change + R"(", "file": "a.cu", "line": 1, "fate": "killed", "rule": "missing-wait"})";
  };
  std::ofstream(folder / ("x." + number + "of2.json"))
      << R"({"key": {"handoff": "0", "operators": "", "time_limit": 20}, "file": "testcases/ok/ok_bulk_prefetch.cu", "part": )" << number
      << R"(, "parts": 2, "date": "2026-01-01", "seconds": 1, "skipped": [], "kernels": [{"kernel": "k", "verdict": "verified", "mutants": [)"
      << mutant(first) << (second.empty() ? "" : ", " + mutant(second)) << "]}]}";
}

TEST_F(MutationTable, PartsOfAFileAreJoinedInTheOrderOfItsMutants) {
  const fs::path results = root_ / "results", json = root_ / "some.json";
  fs::create_directories(results);
  const std::string command = "python3 '" + (repositoryRoot() / "tools/mutation_table.py").string() + "' --merge --json='" + json.string() +
                              "' --results='" + results.string() + "' 2> /dev/null";
  const auto scores = [&] {
    std::ifstream file(json);
    return std::string(std::istreambuf_iterator<char>(file), {});
  };
  writePart(results, 1, "number 0", "number 2");
  EXPECT_NE(std::system(command.c_str()), 0);
  EXPECT_NE(scores().find("1 of 2 parts were not scored"), std::string::npos);
  writePart(results, 2, "number 1", "");
  EXPECT_EQ(std::system(command.c_str()), 0);
  const std::string merged = scores();
  const std::size_t zero = merged.find("number 0"), one = merged.find("number 1"), two = merged.find("number 2");
  EXPECT_LT(zero, one);
  EXPECT_LT(one, two);
  EXPECT_LT(two, std::string::npos);
}

TEST_F(MutationTable, SurvivorWithoutAReasonIsSeen) {
  std::ofstream(root_ / "docs/mutation_reasons.tsv") << "file\toperator\tline\tfate\twhy\treason\n";
  EXPECT_EQ(check(root_), 1);
}

}  // namespace
}  // namespace handoff::tests
