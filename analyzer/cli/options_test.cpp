// SPDX-License-Identifier: Apache-2.0
#include "analyzer/cli/options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace handoff::cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Result<CheckOptions> parse(std::vector<std::string_view> arguments) { return parseCheckOptions(arguments); }

std::string errorOf(std::vector<std::string_view> arguments) {
  const Result<CheckOptions> options = parse(std::move(arguments));
  return options ? "no error" : options.error().message;
}

TEST(Options, ValueMayFollowOrBeAttached) {
  EXPECT_EQ(parse({"--arch=sm_80", "a.cu"})->frontend.arch, "sm_80");
  EXPECT_EQ(parse({"--arch", "sm_80", "a.cu"})->frontend.arch, "sm_80");
  EXPECT_EQ(parse({"-j4"})->jobs, 4u);
  EXPECT_EQ(parse({"-j", "4"})->jobs, 4u);
  EXPECT_EQ(parse({"-p", "build"})->frontend.build_path, "build");
  EXPECT_EQ(parse({"-pbuild"})->frontend.build_path, "build");
}

TEST(Options, InputsAndOptionsMix) {
  const Result<CheckOptions> options = parse({"a.cu", "--quiet", "dir"});
  EXPECT_THAT(options->inputs, ElementsAre("a.cu", "dir"));
  EXPECT_TRUE(options->is_quiet);
}

TEST(Options, FlagsAfterTheDoubleDashReplaceTheDatabase) {
  const Result<CheckOptions> options = parse({"a.cu", "--", "-DX", "--quiet"});
  EXPECT_TRUE(options->frontend.has_fixed_flags);
  EXPECT_THAT(options->frontend.extra_args, ElementsAre("-DX", "--quiet"));
  EXPECT_FALSE(options->is_quiet);
}

TEST(Options, ExtraArgKeepsTheDatabase) {
  const Result<CheckOptions> options = parse({"a.cu", "--extra-arg=-DX", "--extra-arg", "-DY"});
  EXPECT_FALSE(options->frontend.has_fixed_flags);
  EXPECT_THAT(options->frontend.extra_args, ElementsAre("-DX", "-DY"));
}

TEST(Options, UnknownOptionSuggestsASimilarOne) {
  EXPECT_EQ(errorOf({"--formt=json"}), "unknown option '--formt'; did you mean '--format'?");
  EXPECT_EQ(errorOf({"--zzzzzzzz"}), "unknown option '--zzzzzzzz'");
}

TEST(Options, UnknownCheckSuggestsASimilarOne) {
  EXPECT_EQ(errorOf({"--checks=-*,mising-wait"}),
            "--checks: no check matches 'mising-wait'; did you mean 'missing-wait'?");
  EXPECT_THAT(errorOf({"--warnings-as-errors=hung"}), HasSubstr("did you mean 'hang'?"));
}

TEST(Options, ValuesAreChecked) {
  EXPECT_THAT(errorOf({"--format=xml"}), HasSubstr("'xml' is none of text, json"));
  EXPECT_THAT(errorOf({"--require=verifed"}), HasSubstr("did you mean 'verified'?"));
  EXPECT_THAT(errorOf({"-j0"}), HasSubstr("not a positive number"));
  EXPECT_THAT(errorOf({"--time-limit=1s"}), HasSubstr("not a positive number"));
  EXPECT_THAT(errorOf({"--arch=90"}), HasSubstr("sm_90a"));
  EXPECT_THAT(errorOf({"--launch=grid=1"}), HasSubstr("needs its block"));
}

TEST(Options, MissingAndSurplusValuesAreErrors) {
  EXPECT_THAT(errorOf({"--arch"}), HasSubstr("needs a value"));
  EXPECT_THAT(errorOf({"--arch", "--", "-DX"}), HasSubstr("needs a value"));
  EXPECT_THAT(errorOf({"--quiet=yes"}), HasSubstr("takes no value"));
}

TEST(Options, CudaPathNoneMeansNoToolkit) {
  EXPECT_TRUE(parse({"--cuda-path=none"})->frontend.no_toolkit);
  EXPECT_EQ(parse({"--cuda-path=/x"})->frontend.cuda_path, "/x");
}

TEST(Options, ChecksAreAppendedToTheDefault) {
  EXPECT_EQ(parse({"--checks=-hang"})->checks, "*,-perf-*,-hang");
  EXPECT_EQ(parse({"--checks=*,-perf-*,-hang"})->checks, "*,-perf-*,-hang");
  EXPECT_EQ(parse({"--checks=hang", "--checks=-*,missing-*"})->checks, "-*,missing-*");
}

TEST(Options, HelpNamesEveryOption) {
  for (const OptionInfo& option : optionTable()) {
    for (const Command command : {Command::kCheck, Command::kAudit, Command::kQueue}) {
      const bool is_of_it = (static_cast<int>(option.command) & static_cast<int>(command)) != 0;
      if (is_of_it) {
        EXPECT_THAT(optionHelp(command), HasSubstr(std::string(option.name)));
      }
    }
  }
}

}  // namespace
}  // namespace handoff::cli
