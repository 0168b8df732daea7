// SPDX-License-Identifier: Apache-2.0
// Documents show what the tool really prints. A ```console block whose first line is `$ handoff ...` or
// `$ ./dev check ...` is run at the top of the repository and its output compared; with HANDOFF_UPDATE_DOCS=1
// in the environment the test rewrites the block instead.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "analyzer/tests/command.h"
#include "analyzer/tests/repository.h"

namespace handoff::tests {
namespace {

/// The arguments for the binary, or "" when the line is no command of ours.
std::string argumentsOf(const std::string& line) {
  if (line.starts_with("$ handoff ")) return line.substr(10);
  if (line.starts_with("$ ./dev check ")) return line.substr(8);
  return "";
}

/// What the command prints on any machine: without the note about a missing toolkit.
std::vector<std::string> outputOf(const std::string& arguments) {
  const CommandResult result = runHandoff(arguments, repositoryRoot().string());
  std::vector<std::string> lines;
  std::stringstream stream(result.out + result.err);
  for (std::string line; std::getline(stream, line);)
    if (line.find("no CUDA toolkit was found") == std::string::npos) lines.push_back(line);
  return lines;
}

/// Runs the blocks of one page; returns the page as it should be.
std::vector<std::string> refreshed(const std::vector<std::string>& page) {
  std::vector<std::string> result;
  for (std::size_t i = 0; i < page.size(); ++i) {
    result.push_back(page[i]);
    const bool starts_block = page[i] == "```console" && i + 1 < page.size();
    const std::string arguments = starts_block ? argumentsOf(page[i + 1]) : "";
    if (arguments.empty()) continue;
    result.push_back(page[++i]);
    for (const std::string& line : outputOf(arguments)) result.push_back(line);
    while (i + 1 < page.size() && page[i + 1] != "```") ++i;
  }
  return result;
}

TEST(Docs, ConsoleBlocksShowRealOutput) {
  std::vector<std::string> pages = filesBelow("docs", {".md"});
  pages.emplace_back("README.md");
  for (const std::string& page : pages) {
    const std::vector<std::string> lines = linesOf(page);
    const std::vector<std::string> expected = refreshed(lines);
    if (lines == expected) continue;
    if (std::getenv("HANDOFF_UPDATE_DOCS") != nullptr) {
      std::ofstream file(repositoryRoot() / page);
      for (const std::string& line : expected) file << line << "\n";
    } else {
      EXPECT_EQ(lines, expected) << page
                                 << " is out of date; HANDOFF_UPDATE_DOCS=1 ./dev test -R Docs rewrites it";
    }
  }
}

TEST(Docs, OptionsPageHasTheHelpText) {
  const CommandResult help = runHandoff("check --help", repositoryRoot().string());
  EXPECT_THAT(textOf("docs/cli.md"), testing::HasSubstr(help.out));
}

// The page shows the slots of a kernel of the repository, with declarations that are the same on any machine.
TEST(Docs, QueueLabIsWhatTheToolMakes) {
  const char* const page = "docs/queue-lab.html";
  const CommandResult made = runHandoff(
      "queue --cuda-path=none --arch=sm_80 --timeline=testcases/audit/perf_ring3_pipelined.cu --html", repositoryRoot().string());
  ASSERT_EQ(made.exit_code, 0) << made.err;
  if (std::getenv("HANDOFF_UPDATE_DOCS") != nullptr) std::ofstream(repositoryRoot() / page) << made.out;
  EXPECT_EQ(textOf(page), made.out) << page << " is out of date; HANDOFF_UPDATE_DOCS=1 ./dev test -R Docs rewrites it";
}

}  // namespace
}  // namespace handoff::tests
