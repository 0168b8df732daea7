// SPDX-License-Identifier: Apache-2.0
// Documents show what the tool really prints. A ```console block whose first line is `$ handoff ...` or
// `$ ./dev check ...` is run at the top of the repository and its output compared; what stands between
// `<!-- handoff generate X -->` and `<!-- end -->` is made again. With HANDOFF_UPDATE_DOCS=1 in the
// environment the tests rewrite the pages instead.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cctype>
#include <cstdlib>
#include <filesystem>
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

bool startsBlock(const std::vector<std::string>& page, std::size_t line) {
  return page[line] == "```console" && line + 1 < page.size() && !argumentsOf(page[line + 1]).empty();
}

bool refreshesAnything(const std::vector<std::string>& page) {
  for (std::size_t i = 0; i < page.size(); ++i)
    if (startsBlock(page, i)) return true;
  return false;
}

/// Runs the blocks of one page; returns the page as it should be.
std::vector<std::string> refreshed(const std::vector<std::string>& page) {
  std::vector<std::string> result;
  for (std::size_t i = 0; i < page.size(); ++i) {
    result.push_back(page[i]);
    if (!startsBlock(page, i)) continue;
    result.push_back(page[++i]);
    for (const std::string& line : outputOf(argumentsOf(page[i]))) result.push_back(line);
    while (i + 1 < page.size() && page[i + 1] != "```") ++i;
  }
  return result;
}

std::string joined(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

/// Compares a file with what it should be, or with HANDOFF_UPDATE_DOCS writes it.
void expectCurrent(const std::string& file, const std::string& text) {
  const std::string now = textOf(file);
  if (now == text) return;
  if (std::getenv("HANDOFF_UPDATE_DOCS") != nullptr)
    std::ofstream(repositoryRoot() / file) << text;
  else
    EXPECT_EQ(now, text) << file << " is out of date; HANDOFF_UPDATE_DOCS=1 ./dev test -R Docs rewrites it";
}

/// Pages that show what the tool prints.
std::vector<std::string> pagesWithOutput() {
  std::vector<std::string> pages;
  std::vector<std::string> all = filesBelow("docs", {".md"});
  all.emplace_back("README.md");
  for (const std::string& page : all)
    if (refreshesAnything(linesOf(page))) pages.push_back(page);
  return pages;
}

std::string nameOf(const testing::TestParamInfo<std::string>& page) {
  std::string name = page.param;
  for (char& c : name)
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
  return name;
}

class DocsRun : public testing::TestWithParam<std::string> {};

TEST_P(DocsRun, ShowsRealOutput) { expectCurrent(GetParam(), joined(refreshed(linesOf(GetParam())))); }

INSTANTIATE_TEST_SUITE_P(Docs, DocsRun, testing::ValuesIn(pagesWithOutput()), nameOf);

/// The page with the lines between "<!-- handoff generate X -->" and "<!-- end -->" made again.
std::string withGeneratedParts(const std::string& page) {
  constexpr std::string_view kMark = "<!-- handoff ";
  std::string text;
  const std::vector<std::string> lines = linesOf(page);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    text += lines[i] + "\n";
    if (!lines[i].starts_with(kMark)) continue;
    const std::string arguments = lines[i].substr(kMark.size(), lines[i].size() - kMark.size() - 4);
    const CommandResult made = runHandoff(arguments, repositoryRoot().string());
    EXPECT_EQ(made.exit_code, 0) << page << ": " << made.err;
    text += made.out;
    while (i + 1 < lines.size() && lines[i + 1] != "<!-- end -->") ++i;
  }
  return text;
}

TEST(DocsCurrent, OptionsAreThoseOfTheTables) {
  const std::string page = withGeneratedParts("docs/cli.md");
  EXPECT_THAT(page, testing::HasSubstr("--require=checked|verified"));
  expectCurrent("docs/cli.md", page);
}

TEST(DocsCurrent, RuleIndexIsThatOfTheTable) {
  const std::string page = withGeneratedParts("docs/rules/README.md");
  EXPECT_THAT(page, testing::HasSubstr("[missing-wait](missing-wait.md)"));
  expectCurrent("docs/rules/README.md", page);
}

// The kernel that the reader is asked to type is the one whose output is shown.
TEST(DocsCurrent, QuickstartHasItsExample) {
  EXPECT_THAT(textOf("docs/quickstart.md"),
              testing::HasSubstr("```cuda\n" + textOf("docs/examples/reverse.cu") + "```\n"));
}

TEST(DocsCurrent, PicturesAreThoseOfTheScript) {
  namespace fs = std::filesystem;
  const fs::path folder = fs::temp_directory_path() / ("handoff_pictures_" + std::to_string(getpid()));
  const std::string script = (repositoryRoot() / "tools/pictures.py").string();
  const std::string command = "python3 '" + script + "' '" + folder.string() + "' 2>/dev/null";
  if (std::system(command.c_str()) != 0)
    GTEST_SKIP() << "python3 is not installed";  // NOLINT(concurrency-mt-unsafe)
  const std::vector<std::string> pictures = filesBelow("docs/pictures", {".svg"});
  EXPECT_EQ(pictures.size(), 10u);
  const std::string concepts = textOf("docs/concepts.md");
  for (const std::string& picture : pictures) {
    const std::string name = fs::path(picture).filename();
    std::ifstream stream(folder / name);
    const std::string drawn((std::istreambuf_iterator<char>(stream)), {});
    EXPECT_EQ(textOf(picture), drawn) << picture << " is out of date: tools/pictures.py draws it";
    EXPECT_THAT(concepts, testing::HasSubstr("(pictures/" + name + ")"));
  }
  fs::remove_all(folder);
}

// The page shows the slots of a kernel of the repository, with declarations that are the same on any machine.
TEST(DocsCurrent, QueueLabIsWhatTheToolMakes) {
  const char* const page = "docs/queue-lab.html";
  const CommandResult made = runHandoff(
      "queue --cuda-path=none --arch=sm_80 --timeline=testcases/audit/perf_ring3_pipelined.cu --html",
      repositoryRoot().string());
  ASSERT_EQ(made.exit_code, 0) << made.err;
  expectCurrent(page, made.out);
}

// Declarations that come with handoff, so that the page is the same on any machine.
TEST(DocsCurrent, ExampleReportIsWhatTheToolMakes) {
  const CommandResult made = runHandoff(
      "check --cuda-path=none --arch=sm_80 --format=html testcases/barrier-only-handoff/bad_row_exchange.cu "
      "testcases/insufficient-wait/bad_cpasync_ring3_wait_too_loose.cu "
      "testcases/audit/perf_ring3_pipelined.cu",
      repositoryRoot().string());
  ASSERT_EQ(made.exit_code, 1) << made.err;
  expectCurrent("docs/example-report.html", made.out);
}

}  // namespace
}  // namespace handoff::tests
