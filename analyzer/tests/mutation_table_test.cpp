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
    for (const char* file : {"docs/mutation.md", "docs/mutation.json", "docs/mutation_reasons.tsv", "docs/gpu/mutants.json", "tools/mutation_table.py"})
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

TEST_F(MutationTable, SurvivorWithoutAReasonIsSeen) {
  std::ofstream(root_ / "docs/mutation_reasons.tsv") << "file\toperator\tline\tfate\twhy\treason\n";
  EXPECT_EQ(check(root_), 1);
}

}  // namespace
}  // namespace handoff::tests
