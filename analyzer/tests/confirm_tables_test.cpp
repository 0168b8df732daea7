// SPDX-License-Identifier: Apache-2.0
// The tables of docs/gpu-results.md say what the raw results in docs/gpu say.
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
  const std::string command = "python3 '" + (root / "tools/confirm_tables.py").string() + "' --check";
  const int status = std::system(command.c_str());
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

bool hasPython() {
  return std::system("python3 -c 'import sys; sys.exit(sys.version_info < (3, 9))' 2> /dev/null") == 0;
}

TEST(GpuTables, SayWhatTheResultsSay) {
  if (!hasPython()) GTEST_SKIP() << "python3 is not installed";
  EXPECT_EQ(check(repositoryRoot()), 0);
}

TEST(GpuTables, StaleFigureIsSeen) {
  if (!hasPython()) GTEST_SKIP() << "python3 is not installed";
  const fs::path root = fs::path(testing::TempDir()) / ("handoff_confirm_tables_" + std::to_string(getpid()));
  fs::create_directories(root / "docs");
  fs::create_directories(root / "tools");
  const fs::path from = repositoryRoot();
  fs::copy(from / "docs/gpu", root / "docs/gpu", fs::copy_options::recursive);
  fs::copy_file(from / "tools/confirm_tables.py", root / "tools/confirm_tables.py");
  std::string text = textOf("docs/gpu-results.md");
  const std::size_t place = text.find(" jobs confirmed");
  ASSERT_NE(place, std::string::npos);
  text.insert(place, "1");
  std::ofstream(root / "docs/gpu-results.md") << text;
  EXPECT_EQ(check(root), 1);
  fs::remove_all(root);
}

}  // namespace
}  // namespace handoff::tests
