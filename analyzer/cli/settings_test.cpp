// SPDX-License-Identifier: Apache-2.0
#include "analyzer/cli/settings.h"

#include <gmock/gmock.h>

#include <sstream>

#include "analyzer/cli/progress.h"

namespace handoff::cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

CheckOptions given(std::vector<std::string_view> arguments) {
  const auto options = parseCheckOptions(arguments);
  EXPECT_TRUE(options) << options.error().message;
  return *options;
}

config::Config configured(const std::string& text) {
  const auto config = config::parse(text, "/p/.handoff.yaml");
  EXPECT_TRUE(config) << config.error().message;
  return *config;
}

TEST(Settings, CommandLineComesBeforeTheConfiguration) {
  const config::Config config =
      configured("arch: sm_80\nfrontend: nvcc\nwarnings-as-errors: \"*\"\nbudget: {seconds: 7, share: 150, paths: 9}\n");
  const project::Settings only = settingsFor(given({}), config);
  EXPECT_EQ(only.frontend.arch, "sm_80");
  EXPECT_EQ(only.frontend.frontend, frontend::Choice::kNvcc);
  EXPECT_EQ(only.warnings_as_errors, "*");
  EXPECT_EQ(only.explore.max_seconds, 7);
  EXPECT_EQ(only.explore.max_share, 1.5);
  EXPECT_EQ(only.explore.max_paths, 9u);
  const project::Settings both = settingsFor(
      given({"--arch=sm_90", "--frontend", "clang", "--warnings-as-errors=hang", "--time-limit=3", "--time-share=20"}), config);
  EXPECT_EQ(both.frontend.arch, "sm_90");
  EXPECT_EQ(both.frontend.frontend, frontend::Choice::kClang);
  EXPECT_EQ(both.warnings_as_errors, "hang");
  EXPECT_EQ(both.explore.max_seconds, 3);
  EXPECT_EQ(both.explore.max_share, 0.2);
  EXPECT_EQ(both.explore.max_paths, 9u);
}

TEST(Settings, ListsAddUp) {
  const config::Config config = configured("checks: \"-hang\"\nextra-arg: [-DA]\n");
  const project::Settings settings =
      settingsFor(given({"--checks=hang,-missing-*", "--extra-arg=-DB", "--", "-DC"}), config);
  EXPECT_EQ(settings.checks, "*,-perf-*,-hang,hang,-missing-*");
  EXPECT_THAT(settings.frontend.extra_args, ElementsAre("-DA", "-DB", "-DC"));
  EXPECT_TRUE(settings.frontend.has_fixed_flags);
}

TEST(Settings, PathsOfTheConfigurationStartInItsFolder) {
  const project::Settings settings = settingsFor(
      given({}), configured("extra-arg: [-Iinclude, --gpu-architecture=sm_80, -isystem, ../x]\n"));
  EXPECT_THAT(settings.frontend.extra_args,
              ElementsAre("-I/p/include", "-isystem", "/x", "--cuda-gpu-arch=sm_80"));
}

TEST(Settings, ValuesThatNoOptionTakesAreErrorsWithTheirLine) {
  const auto mistake = [](const std::string& text) {
    const auto merged = mergedOptions(CheckOptions{}, configured(text));
    return merged ? std::string() : toString(merged.error());
  };
  EXPECT_THAT(mistake("\narch: hopper\n"),
              HasSubstr("/p/.handoff.yaml:2: error: arch: 'hopper' is no target"));
  EXPECT_THAT(mistake("frontend: gcc\n"), HasSubstr("'gcc' is none of auto, clang, nvcc"));
  EXPECT_THAT(mistake("checks: \"-hangs\"\n"), HasSubstr("no check matches 'hangs'; did you mean 'hang'?"));
  EXPECT_THAT(mistake("suppressions:\n  - {rule: hangs, reason: x}\n"),
              HasSubstr("/p/.handoff.yaml:2: error: no check matches"));
  EXPECT_EQ(mistake("suppressions:\n  - {rule: \"missing-*\", reason: x}\n"), "");
}

TEST(Settings, ExplainsWhereEachValueComesFrom) {
  const std::string text = explainConfig(given({"--checks=hang", "--time-limit=3"}),
                                         configured("checks: \"-hang\"\nbudget:\n  paths: 9\n"));
  EXPECT_THAT(text, HasSubstr("checks: *,-perf-*,-hang,hang\n  from the defaults\n  from /p/.handoff.yaml:1\n"
                              "  from the command line (--checks)\n"));
  EXPECT_THAT(text, HasSubstr("budget.seconds: 3\n  from the command line (--time-limit)\n"));
  EXPECT_THAT(text, HasSubstr("budget.paths: 9\n  from /p/.handoff.yaml:3\n"));
  EXPECT_THAT(text, HasSubstr("budget.memory: 2048\n  from the defaults\n"));
}

TEST(ProgressLine, SaysWhatIsInWorkAndFitsTheTerminal) {
  EXPECT_EQ(progressLine(3, 10, {"a.cu", "b.cu"}, 80), "[3/10] a.cu, b.cu");
  EXPECT_EQ(progressLine(0, 2, {}, 80), "[0/2]");
  EXPECT_EQ(progressLine(3, 10, {"a_long_name.cu"}, 16), "[3/10] a_lon...");
}

TEST(ProgressLine, IsSilentWithoutATerminalAndTakenAwayBeforeOtherOutput) {
  std::ostringstream silent;
  Progress none(silent, 0, 2);
  none.start("a.cu");
  none.show();
  none.hide();
  EXPECT_EQ(silent.str(), "");
  std::ostringstream out;
  Progress progress(out, 80, 2);
  progress.start("a.cu");
  progress.show();
  progress.show();  // nothing new
  EXPECT_EQ(out.str(), "[0/2] a.cu");
  progress.end("a.cu");
  progress.hide();
  EXPECT_EQ(out.str(), "[0/2] a.cu\r\x1b[K");
}

}  // namespace
}  // namespace handoff::cli
