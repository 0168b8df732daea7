// SPDX-License-Identifier: Apache-2.0
#include "analyzer/config/config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace handoff::config {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

Config parsed(const std::string& text) {
  Result<Config> config = parse(text, "c.yaml");
  if (config) return *config;
  ADD_FAILURE() << toString(config.error());
  return {};
}

/// "line: message" of the error; "" without one.
std::string mistake(const std::string& text) {
  const Result<Config> config = parse(text, "c.yaml");
  if (config) return "";
  EXPECT_EQ(config.error().pos.file, "c.yaml");
  return std::to_string(config.error().pos.line) + ": " + config.error().message;
}

TEST(Config, LaunchesAndBudget) {
  const Config config = parsed(
      "# ours\n"
      "launches:\n"
      "  - {kernel: \"ring_*\", launch: \"block=128 K=64\"}\n"
      "  - kernel: \"*\"\n"
      "    launch: block=32x2 grid=4\n"
      "budget: {seconds: 10, share: 80, memory: 512}\n");
  ASSERT_THAT(config.launches, SizeIs(2));
  EXPECT_EQ(config.launches[0].kernel, "ring_*");
  EXPECT_EQ(config.launches[0].launch, "block=128 K=64");
  EXPECT_EQ(config.launches[0].pos.file, "c.yaml");
  EXPECT_EQ(config.launches[0].pos.line, 3u);
  EXPECT_EQ(config.launches[1].pos.line, 4u);
  EXPECT_EQ(config.budget.seconds, 10u);
  EXPECT_EQ(config.budget.share, 80u);
  EXPECT_EQ(config.budget.paths, std::nullopt);
  EXPECT_EQ(config.budget.memory_mb, 512u);
}

TEST(Config, EmptyFilesSayNothing) {
  for (const char* text : {"", "\n\n", "# later\n", "   # later"})
    EXPECT_THAT(parsed(text).launches, IsEmpty()) << text;
}

TEST(Config, UnknownKeysAreErrorsWithASuggestion) {
  EXPECT_EQ(mistake("budget: {seconds: 3}\nlaunchs: []\n"),
            "2: unknown key 'launchs'; did you mean 'launches'?");
  EXPECT_EQ(mistake("budget:\n  second: 3\n"), "2: unknown key 'second'; did you mean 'seconds'?");
  EXPECT_EQ(mistake("launches:\n  - {kernel: k, launch: block=1, kernal: x}\n"),
            "2: unknown key 'kernal'; did you mean 'kernel'?");
  EXPECT_EQ(mistake("something: 3\n"), "1: unknown key 'something'");
}

TEST(Config, MalformedLaunchIsTheErrorOfTheCommandLine) {
  EXPECT_EQ(mistake("launches:\n  - kernel: k\n    launch: block=many\n"),
            "3: 'block=many': expected up to three positive numbers, as 128 or 32x8");
  EXPECT_THAT(mistake("launches:\n  - {kernel: k, launch: K=3}\n"), HasSubstr("2: a launch needs its block"));
}

TEST(Config, ValuesOfTheWrongKind) {
  EXPECT_THAT(mistake("budget: {seconds: soon}"), HasSubstr("1: expected a positive number"));
  EXPECT_THAT(mistake("budget: {paths: 0}"), HasSubstr("expected a positive number"));
  EXPECT_THAT(mistake("budget: {memory: -1}"), HasSubstr("expected a positive number"));
  EXPECT_THAT(mistake("budget: {memory: 99999999999}"), HasSubstr("expected a positive number"));
  EXPECT_THAT(mistake("launches:\n  - {kernel: \"\", launch: block=1}"), HasSubstr("2: expected the name"));
  EXPECT_THAT(mistake("launches:\n  - {kernel: k}\n"), HasSubstr("missing required key 'launch'"));
  EXPECT_THAT(mistake("launches:\n  kernel: k\n"), HasSubstr("2: "));
  EXPECT_THAT(mistake("- a\n- b\n"), HasSubstr("1: "));
  EXPECT_NE(mistake("launches: [\n"), "");
  EXPECT_NE(mistake("just words\n"), "");
}

TEST(Config, ASecondDocumentIsAMistake) {
  EXPECT_EQ(mistake("checks: a\n---\n# more\nbudget: {seconds: 3}\n"),
            "4: a second document; a configuration is one");
  EXPECT_EQ(mistake("checks: a\n---\n- b\n"), "3: a second document; a configuration is one");
  EXPECT_THAT(mistake("checks: a\n---\n\"b\n"), HasSubstr("3: "));  // and it need not be YAML
  for (const char* text : {"checks: a\n...\n", "---\nchecks: a\n", "---\n---\nchecks: a\n", "checks: a\n---\n# nothing\n"})
    EXPECT_EQ(parsed(text).checks, "a") << text;
}

// Found by fuzz_config: what is no text was read, and written as something else.
TEST(Config, WhatIsNoTextIsAMistake) {
  using namespace std::string_literals;
  const std::string no_text = ": expected text: UTF-8 without control characters";
  EXPECT_EQ(mistake("checks: a\nlaunches:\n  - {kernel: k, launch: \"block=1 x\xc8\xc7K=3\"}\n"), "3" + no_text);
  EXPECT_EQ(mistake("checks: a\n# \xff\n"), "2" + no_text);
  EXPECT_EQ(mistake("checks: \"a\0b\"\n"s), "1" + no_text);
  EXPECT_EQ(mistake("checks: \"a\\0b\"\n"), "1" + no_text);
  EXPECT_EQ(mistake("launches:\n  - kernel: k\n    launch: \"block=1 \\ud800=3\"\n"), "3" + no_text);
  EXPECT_EQ(mistake("launches:\n  - {kernel: \"\\b\", launch: block=1}\n"), "2" + no_text);
  EXPECT_EQ(parsed("checks: \"\u00e4\\n\\t\\u00e4\"\n").checks, "\u00e4\n\t\u00e4");
}

// Found by fuzz_config: YAML's scanner gives up on it without a word.
TEST(Config, BrokenDirectiveHasALine) { EXPECT_EQ(mistake("%YAML(1.2\n---\nchecks: x\n"), "1: is no YAML"); }

TEST(Config, KeysComeOnce) {
  EXPECT_THAT(mistake("budget: {seconds: 3}\nbudget: {seconds: 4}\n"), HasSubstr("2: "));
}

TEST(Config, WhatOptionsSayToo) {
  const Config config = parsed(
      "checks: \"-hang\"\n"
      "warnings-as-errors: missing-*\n"
      "arch: sm_80\n"
      "frontend: nvcc\n"
      "cuda-path: none\n"
      "extra-arg: [-DA, -Iinclude]\n"
      "budget:\n"
      "  paths: 3\n");
  EXPECT_EQ(config.checks, "-hang");
  EXPECT_EQ(config.warnings_as_errors, "missing-*");
  EXPECT_EQ(config.arch, "sm_80");
  EXPECT_EQ(config.frontend, "nvcc");
  EXPECT_EQ(config.cuda_path, "none");
  EXPECT_THAT(config.extra_args, testing::ElementsAre("-DA", "-Iinclude"));
  EXPECT_EQ(config.positions.at("arch").line, 3u);
  EXPECT_EQ(config.positions.at("budget.paths").line, 8u);
  EXPECT_EQ(config.positions.at("arch").file, "c.yaml");
}

TEST(Config, TensorMaps) {
  const Config config = parsed(
      "tensormaps:\n"
      "  - {kernel: \"ring_*\", map: params.tma_b, box: 64x128xbf16}\n"
      "  - {kernel: \"*\", map: param0+128, box: \"32xb8\"}\n");
  ASSERT_THAT(config.tensor_maps, SizeIs(2));
  EXPECT_EQ(config.tensor_maps[0].kernel, "ring_*");
  EXPECT_EQ(config.tensor_maps[0].map, "params.tma_b");
  EXPECT_EQ(config.tensor_maps[0].box, "64x128xbf16");
  EXPECT_EQ(config.tensor_maps[1].map, "param0+128");
  EXPECT_EQ(config.tensor_maps[1].pos.line, 3u);
}

TEST(Config, TensorMapsNeedKernelMapAndBox) {
  EXPECT_EQ(mistake("tensormaps:\n  - {kernel: k, map: a,\n     box: 64x128}\n"),
            "3: expected one to five extents and a type, as 64x128xbf16");
  EXPECT_THAT(mistake("tensormaps:\n  - {kernel: k, box: 64xb8}\n"), HasSubstr("2: missing required key 'map'"));
  EXPECT_THAT(mistake("tensormaps:\n  - {kernel: k, map: a}\n"), HasSubstr("2: missing required key 'box'"));
  EXPECT_THAT(mistake("tensormaps:\n  - {map: a, box: 64xb8}\n"), HasSubstr("2: missing required key 'kernel'"));
  EXPECT_THAT(mistake("tensormaps:\n  - {kernel: k, map: \"\", box: 64xb8}\n"), HasSubstr("2: expected a text"));
  EXPECT_THAT(mistake("tensormap: []\n"), HasSubstr("did you mean 'tensormaps'?"));
}

TEST(Config, Suppressions) {
  const Config config = parsed(
      "suppressions:\n"
      "  - {rule: missing-wait, file: \"third_party/*\", reason: \"reported\"}\n"
      "  - rule: \"*\"\n"
      "    kernel: k\n"
      "    reason: the host waits\n");
  ASSERT_THAT(config.suppressions, SizeIs(2));
  EXPECT_EQ(config.suppressions[0].file, "third_party/*");
  EXPECT_EQ(config.suppressions[0].kernel, "*");
  EXPECT_EQ(config.suppressions[0].pos.line, 2u);
  EXPECT_EQ(config.suppressions[1].file, "*");
  EXPECT_EQ(config.suppressions[1].reason, "the host waits");
  EXPECT_EQ(config.suppressions[1].pos.line, 3u);
}

TEST(Config, SuppressionsNeedTheirRuleAndAReason) {
  EXPECT_THAT(mistake("suppressions:\n  - {rule: hang}\n"), HasSubstr("2: missing required key 'reason'"));
  EXPECT_THAT(mistake("suppressions:\n  - {rule: hang, reason: \" \"}\n"), HasSubstr("2: expected a text"));
  EXPECT_THAT(mistake("suppressions:\n  - {reason: x}\n"), HasSubstr("missing required key 'rule'"));
  EXPECT_THAT(mistake("suppressions:\n  - {rule: hang, reason: x, kernl: k}\n"),
              HasSubstr("did you mean 'kernel'?"));
}

TEST(Config, YamlOfAConfigurationIsReadAsTheSame) {
  const char* const text =
      "checks: \"-hang,missing-*\"\n"
      "extra-arg: [\"-DA=\\\"x y\\\"\"]\n"
      "launches: [{kernel: \"ring_*\", launch: \"block=128 K=64\"}]\n"
      "tensormaps: [{kernel: \"ring_*\", map: param0+128, box: 64x128xbf16}]\n"
      "suppressions: [{rule: hang, file: \"a b/*\", reason: \"it's: known\"}]\n"
      "budget: {seconds: 10, share: 80, memory: 512}\n";
  const Config config = parsed(text), again = parsed(toYaml(config));
  EXPECT_EQ(again.checks, config.checks);
  EXPECT_EQ(again.extra_args, config.extra_args);
  ASSERT_THAT(again.launches, SizeIs(1));
  EXPECT_EQ(again.launches[0].launch, "block=128 K=64");
  ASSERT_THAT(again.tensor_maps, SizeIs(1));
  EXPECT_EQ(again.tensor_maps[0].map, "param0+128");
  EXPECT_EQ(again.tensor_maps[0].box, "64x128xbf16");
  ASSERT_THAT(again.suppressions, SizeIs(1));
  EXPECT_EQ(again.suppressions[0].reason, "it's: known");
  EXPECT_EQ(again.suppressions[0].file, "a b/*");
  EXPECT_EQ(again.budget.seconds, 10u);
  EXPECT_EQ(again.budget.share, 80u);
  EXPECT_EQ(again.budget.paths, std::nullopt);
  EXPECT_EQ(toYaml(again), toYaml(config));
}

class ConfigFiles : public testing::Test {
 protected:
  ConfigFiles()
      : folder_(std::filesystem::temp_directory_path() / ("handoff_config" + std::to_string(getpid()))) {
    std::filesystem::create_directories(folder_ / "a/b");
  }
  ~ConfigFiles() override { std::filesystem::remove_all(folder_); }
  std::string write(const std::string& name, const std::string& text) {
    std::ofstream(folder_ / name) << text;
    return (folder_ / name).string();
  }
  std::filesystem::path folder_;
};

TEST_F(ConfigFiles, TheNearestFolderCounts) {
  const std::string file = (folder_ / "a/b/k.cu").string();
  const std::string outer = write(".handoff.yaml", "");
  EXPECT_EQ(findFor(file), outer);
  const std::string inner = write("a/.handoff.yaml", "");
  EXPECT_EQ(findFor(file), inner);
  EXPECT_EQ(findFor((folder_ / "a/b/../../k.cu").string()), outer);
}

TEST_F(ConfigFiles, UnreadableFileIsAnError) {
  EXPECT_FALSE(load((folder_ / "none.yaml").string()).hasValue());
  std::filesystem::create_directories(folder_ / "a/.handoff.yaml");
  EXPECT_FALSE(load((folder_ / "a/.handoff.yaml").string()).hasValue()) << "a folder";
}

}  // namespace
}  // namespace handoff::config
