// SPDX-License-Identifier: Apache-2.0
// Real clients with the real server: Neovim, Emacs and the VS Code extension open a case, show its finding,
// apply the repair, save, and see the finding go. The configurations are those of tools/editors, and
// docs/editors.md shows the same.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>

#include "analyzer/tests/repository.h"

namespace handoff::tests {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

constexpr const char* kCase = "testcases/barrier-only-handoff/bad_row_exchange.cu";

bool isInstalled(const std::string& program) {
  std::stringstream folders(std::getenv("PATH") != nullptr ? std::getenv("PATH") : "");
  for (std::string folder; std::getline(folders, folder, ':');)
    if (access((folder + "/" + program).c_str(), X_OK) == 0) return true;
  return false;
}

std::string read(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

/// "opened: 0.62 s" -> 0.62
double secondsAfter(const std::string& text, const std::string& label) {
  const std::size_t at = text.find(label);
  return at == std::string::npos ? 1e9 : std::strtod(text.c_str() + at + label.size(), nullptr);
}

class EditorTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / ("handoff_editor_" + std::to_string(getpid()));
    fs::create_directories(folder_ / "bin");
    // The name that the configurations use, and declarations that are the same on any machine.
    std::ofstream(folder_ / "bin/handoff")
        << "#!/bin/sh\nexec '" HANDOFF_BINARY "' \"$@\" --cuda-path=none\n";
    fs::permissions(folder_ / "bin/handoff", fs::perms::owner_all);
    file_ = folder_ / "row_exchange.cu";
    fs::copy_file(repositoryRoot() / kCase, file_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  /// Runs a command with the program on PATH and a home of its own; what it printed.
  std::string run(const std::string& command, int expected_status = 0) {
    const fs::path out = folder_ / "out";
    const std::string line = "cd '" + folder_.string() + "' && export HOME='" + folder_.string() +
                             "' PATH='" + (folder_ / "bin").string() + "':\"$PATH\" HANDOFF_CASE='" +
                             file_.string() + "' HANDOFF_LOG='" + (folder_ / "log").string() +
                             "' HANDOFF_BINARY='" HANDOFF_BINARY "' && { " + command + "; } >'" +
                             out.string() + "' 2>&1 </dev/null";
    const int status = std::system(line.c_str());  // NOLINT(concurrency-mt-unsafe)
    const std::string text = read(out);
    EXPECT_TRUE(WIFEXITED(status));
    EXPECT_EQ(WEXITSTATUS(status), expected_status) << text;
    return text;
  }

  fs::path folder_, file_;
};

std::string rootPath(const std::string& file) { return "'" + (repositoryRoot() / file).string() + "'"; }

TEST_F(EditorTest, NeovimShowsTheFindingAndAppliesTheRepair) {
  if (!isInstalled("nvim")) GTEST_SKIP() << "Neovim is not installed";
  const std::string messages = run("export HANDOFF_PLUGIN=" + rootPath("tools/editors/neovim/handoff.lua") +
                                   "; timeout 200 nvim --headless -u NONE -i NONE -n -c 'luafile " +
                                   (repositoryRoot() / "tools/editors/test/neovim.lua").string() + "'");
  const std::string log = read(folder_ / "log");
  EXPECT_THAT(log, HasSubstr("found: line 25: handoff: barrier-only-handoff: "));
  EXPECT_THAT(log, HasSubstr("lens: handoff: violation: 1 finding"));
  EXPECT_THAT(log, HasSubstr("hover: **barrier-only-handoff**"));
  EXPECT_THAT(log, HasSubstr("action: handoff: insert cp.async.wait_all"));
  EXPECT_THAT(log, HasSubstr("lens: handoff: verified")) << messages;
  EXPECT_THAT(read(file_), HasSubstr("cp.async.wait_all"));
  std::cout << log;
  // The times that docs/editors.md states, with room for a machine that is busy with other tests.
  EXPECT_LT(secondsAfter(log, "opened: "), 10.0);
  EXPECT_LT(secondsAfter(log, "repaired: "), 10.0);
  EXPECT_LT(secondsAfter(log, "saved again: "), 1.0);
}

TEST_F(EditorTest, ConfigurationOfNewNeovimIsATable) {
  if (!isInstalled("nvim")) GTEST_SKIP() << "Neovim is not installed";
  const std::string text =
      run("timeout 60 nvim --headless -u NONE -i NONE -n -c \"lua print(dofile('" +
          (repositoryRoot() / "tools/editors/neovim/lsp/handoff.lua").string() + "').cmd[2])\" -c 'qall!'");
  EXPECT_THAT(text, HasSubstr("lsp"));
}

TEST_F(EditorTest, EmacsShowsTheFindingAndAppliesTheRepair) {
  if (!isInstalled("emacs")) GTEST_SKIP() << "Emacs is not installed";
  const std::string probe =
      run("emacs --batch --eval \"(progn (package-initialize) (princ (if (locate-library \\\"lsp-mode\\\") "
          "\\\"has it\\\" \\\"no\\\")))\"");
  if (probe.find("has it") == std::string::npos) GTEST_SKIP() << "lsp-mode is not installed (elpa-lsp-mode)";
  const std::string text = run("export HANDOFF_PLUGIN=" + rootPath("tools/editors/emacs/handoff.el") +
                               "; timeout 200 emacs --batch -l " + rootPath("tools/editors/test/emacs.el"));
  EXPECT_THAT(text, HasSubstr("found: line 25: "));
  EXPECT_THAT(text, HasSubstr("action: handoff: insert cp.async.wait_all"));
  EXPECT_THAT(text, HasSubstr("repaired"));
  EXPECT_THAT(read(file_), HasSubstr("cp.async.wait_all"));
}

TEST_F(EditorTest, ExtensionForVsCodeIsPackagedAndWorks) {
  if (!isInstalled("node") || !isInstalled("npm")) GTEST_SKIP() << "node and npm are not installed";
  const fs::path copy = folder_ / "tools/vscode";
  fs::create_directories(copy);
  for (const char* part :
       {"package.json", "package-lock.json", ".npmrc", ".vscodeignore", "LICENSE", "README.md"})
    fs::copy_file(repositoryRoot() / "tools/vscode" / part, copy / part);
  for (const char* part : {"src", "test"})
    fs::copy(repositoryRoot() / "tools/vscode" / part, copy / part, fs::copy_options::recursive);
  fs::create_directories(folder_ / "testcases/barrier-only-handoff");
  fs::copy_file(repositoryRoot() / kCase, folder_ / kCase);
  // The user's own settings say where packages come from.
  const std::string home = std::getenv("HOME") != nullptr ? std::getenv("HOME") : "/";
  const std::string install = run("cd tools/vscode && HOME='" + home +
                                  "' timeout 300 npm ci --no-audit --no-fund || echo 'npm ci failed'");
  if (install.find("npm ci failed") != std::string::npos)
    GTEST_SKIP() << "the packages of npm cannot be had here:\n" << install;
  run("cd tools/vscode && mkdir -p build && npm run package");
  EXPECT_GT(fs::file_size(copy / "build/handoff.vsix"), 100'000U);
  const std::string text = run("cd tools/vscode && HANDOFF_BINARY='" HANDOFF_BINARY "' timeout 200 npm test");
  EXPECT_THAT(text, HasSubstr("# fail 0"));
  EXPECT_THAT(text, HasSubstr("# skipped 0"));
}

TEST(EditorDocs, ShowTheConfigurationsThatAreTested) {
  const std::string page = textOf("docs/editors.md");
  for (const char* file : {"tools/editors/neovim/lsp/handoff.lua", "tools/editors/neovim/handoff.lua",
                           "tools/editors/emacs/handoff.el"}) {
    EXPECT_THAT(page, HasSubstr(textOf(file))) << file;
  }
}

TEST(EditorPackages, LockFileNamesNoRegistry) {
  const std::string text = textOf("tools/vscode/package-lock.json");
  EXPECT_EQ(text.find("\"resolved\""), std::string::npos);
}

}  // namespace
}  // namespace handoff::tests
