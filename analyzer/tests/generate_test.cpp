// SPDX-License-Identifier: Apache-2.0
// The man page and the completions: complete, and right for the programs that read them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <regex>

#include "analyzer/tests/command.h"
#include "analyzer/tests/repository.h"

namespace handoff::tests {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::UnorderedElementsAre;

bool isInstalled(const std::string& program) {
  return std::system(("command -v " + program + " >/dev/null 2>&1").c_str()) ==
         0;  // NOLINT(concurrency-mt-unsafe)
}

/// What a shell command prints, errors included.
std::string outputOf(const std::string& command) {
  FILE* pipe = popen(("(" + command + ") 2>&1").c_str(), "r");
  std::string text;
  for (int c = std::fgetc(pipe); c != EOF; c = std::fgetc(pipe)) text += static_cast<char>(c);
  const int status = pclose(pipe);
  EXPECT_TRUE(WIFEXITED(status)) << command;
  return text;
}

std::vector<std::string> linesIn(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t start = 0, end = 0; (end = text.find('\n', start)) != std::string::npos; start = end + 1)
    lines.push_back(text.substr(start, end - start));
  return lines;
}

std::string made(const std::string& artifact) {
  const CommandResult result = runHandoff("generate " + artifact, ".");
  EXPECT_EQ(result.exit_code, 0) << result.err;
  return result.out;
}

/// All options and commands that the help texts name.
std::vector<std::string> optionsInHelp(const std::string& command) {
  static const std::regex kOption(R"(^  (--?[a-z-]+))");
  std::vector<std::string> options;
  for (const std::string& line : linesIn(runHandoff(command + " --help", ".").out)) {
    std::smatch match;
    if (std::regex_search(line, match, kOption)) options.push_back(match[1]);
  }
  return options;
}

class Generate : public testing::Test {
 protected:
  Generate() : folder_(fs::temp_directory_path() / ("handoff_generate_" + std::to_string(getpid()))) {
    fs::create_directories(folder_);
  }
  ~Generate() override { fs::remove_all(folder_); }
  std::string write(const std::string& name, const std::string& text) {
    fs::create_directories((folder_ / name).parent_path());
    std::ofstream(folder_ / name, std::ios::binary) << text;
    return (folder_ / name).string();
  }

  /// What bash offers for the last of `words`, which it has broken at "=".
  std::vector<std::string> bashOffers(const std::string& words, int at) {
    const std::string script =
        write("complete.sh", "cd '" + folder_.string() + "' && source ./completion\nCOMP_WORDS=(" + words +
                                 ")\nCOMP_CWORD=" + std::to_string(at) +
                                 "\n_handoff\nprintf '%s\\n' \"${COMPREPLY[@]}\"\n");
    write("completion", made("bash"));
    std::vector<std::string> offers = linesIn(outputOf("bash --norc '" + script + "'"));
    std::erase(offers, "");
    return offers;
  }

  fs::path folder_;
};

TEST_F(Generate, UnknownArtifactIsAUsageError) {
  const CommandResult result = runHandoff("generate mann", ".");
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err, HasSubstr("did you mean 'man'?"));
  EXPECT_EQ(runHandoff("generate", ".").exit_code, 2);
}

TEST_F(Generate, ManPageIsCleanForGroff) {
  if (!isInstalled("groff")) GTEST_SKIP() << "groff is not installed";
  const std::string page = write("handoff.1", made("man"));
  EXPECT_THAT(outputOf("groff -man -Tutf8 -ww '" + page + "' >/dev/null"), IsEmpty());
  const std::string confirm = (repositoryRoot() / "analyzer/confirm/handoff-confirm.1").string();
  EXPECT_THAT(outputOf("groff -man -Tutf8 -ww '" + confirm + "' >/dev/null"), IsEmpty());
}

TEST_F(Generate, ManPageIsCleanForMandoc) {
  if (!isInstalled("mandoc")) GTEST_SKIP() << "mandoc is not installed";
  const std::string page = write("handoff.1", made("man"));
  EXPECT_THAT(outputOf("mandoc -Tlint -Wwarning '" + page + "'"), IsEmpty());
}

TEST_F(Generate, ManPageHasEveryCommandOptionAndRule) {
  if (!isInstalled("groff")) GTEST_SKIP() << "groff is not installed";
  const std::string page = write("handoff.1", made("man"));
  const std::string text = outputOf("groff -man -Tascii -P-cbou -rLL=200n '" + page + "'");
  for (const std::string& line : linesIn(runHandoff("--help", ".").out)) {
    if (!line.starts_with("  ")) continue;
    EXPECT_THAT(text, HasSubstr("handoff " + line.substr(2, line.find(' ', 2) - 2)));
  }
  for (const char* command : {"check", "audit", "baseline", "mutate", "queue"})
    for (const std::string& option : optionsInHelp(command)) EXPECT_THAT(text, HasSubstr(option));
  for (const std::string& line : linesIn(runHandoff("--list-checks", ".").out))
    EXPECT_THAT(text, HasSubstr(line.substr(0, line.find(' '))));
}

// The page of handoff-confirm is written by hand: its options are few.
TEST_F(Generate, ManPageOfConfirmHasItsOptions) {
  std::string page = textOf("analyzer/confirm/handoff-confirm.1");
  page = std::regex_replace(page, std::regex(R"(\\-)"), "-");
  static const std::regex kOption(R"re("  (--[a-z-]+))re");
  const std::string source = textOf("analyzer/confirm/main.cpp");
  int options = 0;
  for (std::sregex_iterator option(source.begin(), source.end(), kOption), end; option != end;
       ++option, ++options)
    EXPECT_THAT(page, HasSubstr((*option)[1].str()));
  EXPECT_GE(options, 8);
}

TEST_F(Generate, BashOffersCommandsOptionsAndValues) {
  if (!isInstalled("bash")) GTEST_SKIP() << "bash is not installed";
  EXPECT_THAT(bashOffers("handoff che", 1), ElementsAre("check"));
  EXPECT_THAT(bashOffers("handoff check --exit", 2), ElementsAre("--exit-zero"));
  EXPECT_THAT(bashOffers("handoff check --front", 2), ElementsAre("--frontend="));
  EXPECT_THAT(bashOffers("handoff check --frontend =", 3), ElementsAre("auto", "clang", "nvcc"));
  EXPECT_THAT(bashOffers("handoff check --frontend = c", 4), ElementsAre("clang"));
  EXPECT_THAT(bashOffers("handoff check --checks missing-w", 3), ElementsAre("missing-wait"));
  EXPECT_THAT(bashOffers("handoff explain wrong-p", 2), ElementsAre("wrong-parity"));
  EXPECT_THAT(bashOffers("handoff queue --frontend", 2), ElementsAre("--frontend="));
  EXPECT_THAT(bashOffers("handoff queue --exit", 2), IsEmpty());
  EXPECT_THAT(bashOffers("handoff baseline cr", 2), ElementsAre("create"));
}

TEST_F(Generate, BashOffersTheFilesThatHandoffReads) {
  if (!isInstalled("bash")) GTEST_SKIP() << "bash is not installed";
  for (const char* name : {"ring.cu", "ring.cuh", "ring.ptx", "ring.cpp", "ring files/x"}) write(name, "");
  EXPECT_THAT(bashOffers("handoff check ri", 2),
              UnorderedElementsAre("ring.cu", "ring.cuh", "ring.ptx", "ring files"));
  EXPECT_THAT(bashOffers("handoff check -p ri", 3), ElementsAre("ring files"));
  EXPECT_THAT(bashOffers("handoff check --output = ring.cp", 4), ElementsAre("ring.cpp"));
}

TEST_F(Generate, FishOffersCommandsOptionsAndValues) {
  if (!isInstalled("fish")) GTEST_SKIP() << "fish is not installed";
  const std::string script = write("completion.fish", made("fish"));
  const auto offers = [&](const std::string& line) {
    return outputOf("HOME='" + folder_.string() + "' fish --no-config -c \"source '" + script +
                    "'; complete -C '" + line + "'\"");
  };
  EXPECT_THAT(offers("handoff che"), HasSubstr("check\tcheck .cu"));
  EXPECT_THAT(offers("handoff check --exit"), HasSubstr("--exit-zero"));
  EXPECT_THAT(offers("handoff check --frontend="), HasSubstr("--frontend=nvcc"));
  EXPECT_THAT(offers("handoff explain wrong-p"), HasSubstr("wrong-parity"));
  EXPECT_THAT(offers("handoff queue --exit"), Not(HasSubstr("--exit-zero")));
}

// Completion itself needs a terminal; zpty gives zsh one.
TEST_F(Generate, ZshOffersOptionsAndValues) {
  if (!isInstalled("zsh")) GTEST_SKIP() << "zsh is not installed";
  write("functions/_handoff", made("zsh"));
  const std::string driver =
      write("drive.zsh",
            "zmodload zsh/zpty\n"
            "zpty shell zsh -f -i\n"
            "zpty -w shell 'PS1=; fpath=(" +
                (folder_ / "functions").string() +
                " $fpath); autoload -U compinit; compinit -u -D'\n"
                "zpty -w -n shell $'handoff check --frontend=cl\\t'\n"
                "zpty -w -n shell $' --exit-z\\t'\n"
                "zpty -w -n shell $'\\C-a\\C-khandoff explain wrong-p\\t\\C-a\\C-k\\n'\n"
                "zpty -r -m shell text '*wrong-parity*' && print -r -- \"$text\"\n"
                "zpty -d shell\n");
  const std::string text =
      outputOf("HOME='" + folder_.string() + "' TERM=dumb timeout 20 zsh -f '" + driver + "'");
  EXPECT_THAT(text, HasSubstr("--frontend=clang"));
  EXPECT_THAT(text, HasSubstr("--exit-zero"));
  EXPECT_THAT(text, HasSubstr("wrong-parity"));
}

}  // namespace
}  // namespace handoff::tests
