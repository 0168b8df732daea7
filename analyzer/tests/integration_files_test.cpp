// SPDX-License-Identifier: Apache-2.0
// The files by which other tools use Handoff: well-formed, and about inputs and options that exist.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <llvm/ADT/SmallString.h>
#include <llvm/Support/SourceMgr.h>
#include <llvm/Support/YAMLParser.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>

#include "analyzer/tests/command.h"
#include "analyzer/tests/repository.h"

namespace handoff::tests {
namespace {

namespace fs = std::filesystem;
using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

/// A YAML value; maps and lists by the path to each scalar in it, as "runs.steps.0.run".
using Flat = std::map<std::string, std::string>;

void flatten(llvm::yaml::Node* node, const std::string& path, Flat& result) {
  const auto below = [&](const std::string& key) { return path.empty() ? key : path + "." + key; };
  llvm::SmallString<64> storage;
  if (auto* scalar = llvm::dyn_cast_or_null<llvm::yaml::ScalarNode>(node)) {
    result[path] = scalar->getValue(storage).str();
  } else if (auto* block = llvm::dyn_cast_or_null<llvm::yaml::BlockScalarNode>(node)) {
    result[path] = block->getValue().str();
  } else if (auto* map = llvm::dyn_cast_or_null<llvm::yaml::MappingNode>(node)) {
    for (llvm::yaml::KeyValueNode& entry : *map) {
      llvm::SmallString<64> key_storage;
      auto* key = llvm::dyn_cast_or_null<llvm::yaml::ScalarNode>(entry.getKey());
      ASSERT_NE(key, nullptr) << path;
      flatten(entry.getValue(), below(key->getValue(key_storage).str()), result);
    }
  } else if (auto* list = llvm::dyn_cast_or_null<llvm::yaml::SequenceNode>(node)) {
    int index = 0;
    for (llvm::yaml::Node& entry : *list) flatten(&entry, below(std::to_string(index++)), result);
  }
}

Flat yamlOf(const std::string& file) {
  const std::string text = textOf(file);
  llvm::SourceMgr sources;
  std::string complaints;
  sources.setDiagHandler([](const llvm::SMDiagnostic& problem,
                            void* all) { *static_cast<std::string*>(all) += problem.getMessage().str(); },
                         &complaints);
  llvm::yaml::Stream stream(text, sources);
  Flat result;
  for (llvm::yaml::Document& document : stream) flatten(document.getRoot(), "", result);
  EXPECT_FALSE(stream.failed()) << file << ": " << complaints;
  return result;
}

/// Words below `prefix`: "inputs.deb.default" gives "deb".
std::set<std::string> keysBelow(const Flat& yaml, const std::string& prefix) {
  std::set<std::string> keys;
  for (const auto& [path, value] : yaml)
    if (path.starts_with(prefix))
      keys.insert(path.substr(prefix.size(), path.find('.', prefix.size()) - prefix.size()));
  return keys;
}

/// Options of `handoff check` that a script names, and that it does not have.
std::set<std::string> unknownOptions(const std::string& script) {
  static const std::regex kTest(R"(\[\[.*?\]\])");  // bash has options of its own in these
  const std::string text = std::regex_replace(script, kTest, "");
  static const std::regex kOption(R"([\s("'](--?[a-z][a-z-]*))");
  const std::string help = runHandoff("check --help", ".").out;
  std::set<std::string> unknown;
  for (std::sregex_iterator option(text.begin(), text.end(), kOption), end; option != end; ++option)
    if (help.find("  " + (*option)[1].str()) == std::string::npos) unknown.insert((*option)[1]);
  return unknown;
}

/// The lines of a script that call `handoff check`, or prepare its arguments.
std::string linesAboutHandoff(const std::string& script) {
  std::string result;
  std::size_t start = 0;
  for (std::size_t end = 0; start < script.size(); start = end + 1) {
    end = std::min(script.find('\n', start), script.size());
    const std::string line = script.substr(start, end - start);
    if (line.find("handoff check") != std::string::npos || line.find("arguments") != std::string::npos)
      result += line + "\n";
  }
  return result;
}

/// What bash says about the syntax of a script.
std::string syntaxErrors(const std::string& script) {
  const fs::path folder = fs::temp_directory_path() / ("handoff_script_" + std::to_string(getpid()));
  fs::create_directories(folder);
  std::ofstream(folder / "script") << script;
  const std::string command =
      "bash -n '" + (folder / "script").string() + "' 2>'" + (folder / "errors").string() + "'";
  std::string errors;
  if (std::system(command.c_str()) != 0) {  // NOLINT(concurrency-mt-unsafe)
    std::ifstream stream(folder / "errors");
    errors.assign(std::istreambuf_iterator<char>(stream), {});
  }
  fs::remove_all(folder);
  return errors;
}

TEST(Action, UsesItsInputsAndOptionsThatExist) {
  const Flat action = yamlOf("action.yml");
  EXPECT_EQ(action.at("runs.using"), "composite");
  const std::set<std::string> inputs = keysBelow(action, "inputs.");
  static const std::regex kInput(R"(inputs\.([a-z-]+))");
  std::set<std::string> used;
  for (const auto& [path, value] : action)
    for (std::sregex_iterator input(value.begin(), value.end(), kInput), end; input != end; ++input)
      used.insert((*input)[1]);
  EXPECT_EQ(used, inputs);
  int scripts = 0;
  for (const auto& [path, value] : action) {
    if (!path.ends_with(".run")) continue;
    ++scripts;
    EXPECT_EQ(action.at(path.substr(0, path.size() - 4) + ".shell"), "bash") << path;
    EXPECT_THAT(syntaxErrors(value), IsEmpty()) << path;
    EXPECT_THAT(unknownOptions(linesAboutHandoff(value)), IsEmpty()) << path;
    // What a user gives arrives in variables: an expression in a script would run it.
    EXPECT_THAT(value, Not(HasSubstr("${{"))) << path;
  }
  EXPECT_EQ(scripts, 3);
}

// The schemas that GitHub publishes, as an npm package that `./dev test` installs below build/npm.
TEST(Action, FitsTheSchemas) {
  const fs::path validator = repositoryRoot() / "build/npm/node_modules/.bin/action-validator";
  if (!fs::exists(validator)) GTEST_SKIP() << "the npm package @action-validator/cli is not in build/npm";
  for (const char* file : {"action.yml", "docs/examples/github-workflow.yml"}) {
    const std::string command = "'" + validator.string() + "' '" + (repositoryRoot() / file).string() + "'";
    EXPECT_EQ(std::system(command.c_str()), 0) << file;  // NOLINT(concurrency-mt-unsafe)
  }
}

// The step as a runner runs it: with -e, and with the command first on PATH.
TEST(Action, CheckStepHandsOnTheStatusAndTheReport) {
  const fs::path folder = fs::temp_directory_path() / ("handoff_action_" + std::to_string(getpid()));
  fs::create_directories(folder);
  std::ofstream(folder / "step") << yamlOf("action.yml").at("runs.steps.1.run");
  const auto outputs = [&](const std::string& path, const std::string& fails) {
    const std::string command =
        "cd '" + repositoryRoot().string() + "' && rm -f '" + (folder / "out").string() +
        "' && env PATH='" HANDOFF_FOLDER ":'\"$PATH\" INPUT_PATH='" + path +
        "' BUILD_PATH= OPTIONS='--arch=sm_80 --no-cache' BASELINE= SARIF_FILE='" +
        (folder / "report.sarif").string() + "' FAIL_ON_FINDINGS=" + fails + " GITHUB_OUTPUT='" +
        (folder / "out").string() + "' bash --noprofile --norc -eo pipefail '" + (folder / "step").string() +
        "' >/dev/null 2>&1";
    EXPECT_EQ(std::system(command.c_str()), 0) << command;  // NOLINT(concurrency-mt-unsafe)
    std::ifstream stream(folder / "out");
    return std::string(std::istreambuf_iterator<char>(stream), {});
  };
  const std::string bad = "testcases/missing-commit/bad_row_exchange_no_commit.cu";
  EXPECT_EQ(outputs(bad, "true"), "exit-code=1\nstatus=1\n");
  EXPECT_TRUE(fs::exists(folder / "report.sarif"));
  EXPECT_EQ(outputs(bad, "false"), "exit-code=1\nstatus=0\n");
  EXPECT_EQ(outputs(bad + " missing.cu", "false"), "exit-code=2\nstatus=2\n");
  EXPECT_EQ(outputs("testcases/missing-commit/ok_row_exchange_commit.cu", "true"), "exit-code=0\nstatus=0\n");
  fs::remove_all(folder);
}

TEST(Action, InputsAreInTheDocuments) {
  const std::string page = textOf("docs/integrate.md");
  for (const std::string& input : keysBelow(yamlOf("action.yml"), "inputs."))
    EXPECT_THAT(page, HasSubstr("| `" + input + "` |"));
}

TEST(Examples, GithubWorkflowGivesTheActionItsInputs) {
  const Flat workflow = yamlOf("docs/examples/github-workflow.yml");
  const std::set<std::string> inputs = keysBelow(yamlOf("action.yml"), "inputs.");
  int uses = 0;
  for (const auto& [path, value] : workflow) {
    if (path.ends_with(".uses") && value.starts_with("handoff/handoff@")) {
      ++uses;
      for (const std::string& given : keysBelow(workflow, path.substr(0, path.size() - 4) + "with."))
        EXPECT_THAT(inputs, Contains(given));
    }
    if (path.ends_with(".run")) {
      EXPECT_THAT(syntaxErrors(value), IsEmpty()) << path;
    }
    if (path.ends_with(".with.options")) {
      EXPECT_THAT(unknownOptions(" " + value), IsEmpty());
    }
  }
  EXPECT_EQ(uses, 1);
}

TEST(Examples, GitlabJobCallsHandoffWithItsOptions) {
  std::string script;
  for (const auto& [path, value] : yamlOf("docs/examples/gitlab-ci.yml"))
    if (path.starts_with("handoff.script.")) script += value + "\n";
  EXPECT_THAT(script, HasSubstr("handoff check -p build"));
  EXPECT_THAT(syntaxErrors(script), IsEmpty());
  EXPECT_THAT(unknownOptions(linesAboutHandoff(script)), IsEmpty());
}

TEST(PreCommit, HookTakesTheFilesThatHandoffReads) {
  const Flat hooks = yamlOf(".pre-commit-hooks.yaml");
  for (const char* key : {"0.id", "0.name", "0.entry", "0.language", "0.files"})
    EXPECT_EQ(hooks.count(key), 1u) << key;
  EXPECT_TRUE(hooks.at("0.entry").starts_with("handoff check"));
  EXPECT_THAT(unknownOptions(hooks.at("0.entry")), IsEmpty());
  const std::regex files(hooks.at("0.files"));
  for (const char* file : {"a.cu", "src/a.cuh", "a.ptx"}) EXPECT_TRUE(std::regex_search(file, files)) << file;
  for (const char* file : {"a.cpp", "a.cubin", "cu"}) EXPECT_FALSE(std::regex_search(file, files)) << file;
}

TEST(Container, CopiesWhatTheBuildMakes) {
  const std::string text = textOf("Dockerfile");
  EXPECT_THAT(text, HasSubstr("RUN ./dev package"));
  EXPECT_THAT(textOf("dev"), HasSubstr("build_dir=build/release"));
  EXPECT_THAT(text, HasSubstr("COPY --from=build /handoff/build/release/*.deb"));
}

}  // namespace
}  // namespace handoff::tests
