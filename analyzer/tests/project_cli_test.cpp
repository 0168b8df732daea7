// SPDX-License-Identifier: Apache-2.0
// Projects from the outside: the sample of testcases/project under CMake, and small ones that need no
// toolkit.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <llvm/Support/JSON.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>

#include "analyzer/tests/command.h"
#include "analyzer/tests/repository.h"

namespace handoff::tests {
namespace {

namespace fs = std::filesystem;
namespace json = llvm::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr const char* kHeader = R"(#pragma once
#include <cuda_runtime.h>
__device__ inline void fetch(float4* slot, const float4* from) {
  const unsigned to = static_cast<unsigned>(__cvta_generic_to_shared(slot));
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(from) : "memory");
  asm volatile("cp.async.commit_group;" ::: "memory");
}
__device__ inline float4 tooEarly(float4* slot, const float4* from) {
  fetch(slot, from);
  return *slot;
}
)";

bool works(const std::string& command) { return std::system((command + " > /dev/null 2>&1").c_str()) == 0; }

class ProjectCli : public testing::Test {
 protected:
  ProjectCli() {
    const testing::TestInfo* test = testing::UnitTest::GetInstance()->current_test_info();
    folder_ = fs::temp_directory_path() / ("handoff_" + std::string(test->name()) + std::to_string(getpid()));
    fs::create_directories(folder_);
  }
  ~ProjectCli() override { fs::remove_all(folder_); }

  void write(const std::string& name, const std::string& text) {
    fs::create_directories((folder_ / name).parent_path());
    std::ofstream(folder_ / name, std::ios::binary) << text;
  }
  std::string read(const std::string& name) {
    std::ifstream stream(folder_ / name, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
  }
  /// A kernel that uses `call` of the header.
  static std::string kernel(const std::string& name, const std::string& call) {
    return "#include \"fetch.cuh\"\n__global__ void " + name +
           "(const float4* in, float4* out) {\n  __shared__ float4 row[64];\n  const int t = threadIdx.x;\n "
           " " +
           call + "\n}\nvoid run(const float4* in, float4* out) { " + name + "<<<1, 64>>>(in, out); }\n";
  }
  static std::string good(const std::string& name) {
    return kernel(name,
                  "fetch(&row[t], &in[t]);\n  asm volatile(\"cp.async.wait_group 0;\" ::: \"memory\");\n  "
                  "out[t] = row[t];");
  }
  /// Its mistake is in the header.
  static std::string bad(const std::string& name) {
    return kernel(name, "out[t] = tooEarly(&row[t], &in[t]);");
  }

  void writeDatabase(const std::vector<std::string>& files) {
    std::string text;
    for (const std::string& file : files)
      text += (text.empty() ? "[" : ",\n") + std::string(R"({"directory": ")") + folder_.string() +
              R"(", "file": ")" + file + R"(", "command": "nvcc -arch=sm_80 -c )" + file + R"("})";
    write("build/compile_commands.json", text + "]\n");
  }
  /// Files 0.cu to n-1.cu, those of `wrong` with the header's mistake.
  void writeProject(int count, const std::set<int>& wrong) {
    write("fetch.cuh", kHeader);
    std::vector<std::string> files;
    for (int i = 0; i < count; ++i) {
      files.push_back(std::to_string(i) + ".cu");
      write(files.back(), wrong.count(i) != 0 ? bad("k" + std::to_string(i)) : good("k" + std::to_string(i)));
    }
    writeDatabase(files);
  }
  CommandResult run(const std::string& arguments, const std::string& prefix = {}) {
    return runHandoff(arguments, folder_.string(), prefix);
  }
  /// In a way that does not depend on an installed toolkit.
  CommandResult check(const std::string& arguments, const std::string& prefix = {}) {
    return run("check -p build --cuda-path=none --frontend=clang " + arguments, prefix);
  }
  static json::Value parsed(const std::string& text) {
    llvm::Expected<json::Value> value = json::parse(text);
    if (value) return *value;
    ADD_FAILURE() << llvm::toString(value.takeError()) << "\n" << text;
    return nullptr;
  }

  fs::path folder_;
};

TEST_F(ProjectCli, ReportIsTheSameForAnyNumberOfThreads) {
  writeProject(6, {1, 4});
  const CommandResult one = check("--no-cache --format=json -j 1"),
                      four = check("--no-cache --format=json -j 4");
  EXPECT_EQ(one.exit_code, 1);
  EXPECT_EQ(one.out, four.out);
  EXPECT_THAT(four.err, IsEmpty()) << "no progress where no terminal is";
  EXPECT_EQ(check("--no-cache -j 1").out, check("--no-cache -j 3").out);
}

TEST_F(ProjectCli, MistakeInAHeaderIsReportedOnce) {
  writeProject(4, {1, 3});
  const CommandResult text = check("--no-cache");
  EXPECT_THAT(text.out, AllOf(HasSubstr("fetch.cuh:10: note: missing-wait was met in 2 files: 1.cu, 3.cu"),
                              HasSubstr("k3(const float4 *, float4 *), 1 finding (reported above)")));
  EXPECT_THAT(text.out, HasSubstr("2 violations; 1 error, 0 warnings"));
  const std::size_t first = text.out.find("error: ");
  ASSERT_NE(first, std::string::npos);
  EXPECT_EQ(text.out.find("error: ", first + 1), std::string::npos) << text.out;
  const json::Value report = parsed(check("--no-cache --format=json").out);
  const auto* files = report.getAsObject()->getArray("files");
  const auto finding = [&](std::size_t file) {
    return *(*(*(*files)[file].getAsObject()->getArray("kernels"))[0].getAsObject()->getArray("findings"))[0]
                .getAsObject();
  };
  EXPECT_EQ((*finding(1).getArray("also_in"))[0].getAsString(), "3.cu");
  EXPECT_EQ(finding(1).getBoolean("repeat"), false);
  EXPECT_EQ(finding(3).getBoolean("repeat"), true);
}

TEST_F(ProjectCli, GlobsSelectAndNothingIsAnError) {
  writeProject(3, {1});
  EXPECT_EQ(check("--no-cache '*/[02].cu'").exit_code, 0);
  EXPECT_EQ(check("--no-cache '1*'").exit_code, 1);
  const CommandResult none = check("--no-cache '*/9.cu'");
  EXPECT_EQ(none.exit_code, 2);
  EXPECT_THAT(none.err, HasSubstr("matches no CUDA file"));
}

TEST_F(ProjectCli, SecondRunComesFromTheCache) {
  writeProject(3, {1});
  const CommandResult first = check("--cache-dir=cache --format=json");
  const CommandResult second = check("--cache-dir=cache --format=json");
  EXPECT_EQ(second.out, first.out);
  EXPECT_THAT(check("--cache-dir=cache --stats").out, HasSubstr("3 files as an earlier run left them"));
  write("2.cu", good("other"));
  EXPECT_THAT(check("--cache-dir=cache --stats").out,
              AllOf(HasSubstr("2 files as an earlier run left them"), HasSubstr("other(")));
  EXPECT_THAT(check("--no-cache --stats").out, Not(HasSubstr("as an earlier run left")));
}

TEST_F(ProjectCli, CacheThatCannotBeUsedCostsOnlyTime) {
  writeProject(2, {1});
  write("file", "");
  const CommandResult named = check("--cache-dir=file/below");
  EXPECT_EQ(named.exit_code, 1);
  EXPECT_THAT(named.err, HasSubstr("warning: the cache in file/below cannot be used"));
  EXPECT_EQ(named.out, check("--no-cache").out);
}

TEST_F(ProjectCli, FullDiskCostsOnlyTime) {
  if (!works("unshare -m true")) GTEST_SKIP() << "no right to mount";
  writeProject(2, {1});
  fs::create_directories(folder_ / "cache");
  const CommandResult full =
      check("--cache-dir=cache", "unshare -m sh -c 'mount -t tmpfs -o size=8k none cache && exec \"$@\"' sh");
  EXPECT_EQ(full.exit_code, 1) << full.err;
  EXPECT_EQ(full.out, check("--no-cache").out);
}

TEST_F(ProjectCli, ChangedSinceChecksWhatDependsOnAChange) {
  if (!works("git --version")) GTEST_SKIP() << "no git";
  writeProject(3, {});
  write("alone.cu", "__global__ void alone(int* p) { *p = 1; }\n");
  writeDatabase({"0.cu", "1.cu", "2.cu", "alone.cu"});
  const std::string git = "cd '" + folder_.string() + "' && git -c user.name=t -c user.email=t@example.org ";
  ASSERT_TRUE(works(git + "init .") && works(git + "add -A") && works(git + "commit -m first"));
  const auto names = [&](const std::string& arguments) {
    const CommandResult result =
        check("--cache-dir=/dev/null/none --format=json --changed-since=HEAD " + arguments);
    const json::Value report = parsed(result.out);
    std::string text;
    for (const json::Value& file : *report.getAsObject()->getArray("files"))
      text += file.getAsObject()->getString("path")->rsplit('/').second.str() + " ";
    return text;
  };
  EXPECT_EQ(names(""), "");
  write("1.cu", good("other"));
  EXPECT_EQ(names(""), "1.cu ");
  write("fetch.cuh", std::string(kHeader) + "// changed\n");
  EXPECT_EQ(names(""), "0.cu 1.cu 2.cu ") << "all that include it";
  const CommandResult unknown = check("--changed-since=nowhere");
  EXPECT_EQ(unknown.exit_code, 2);
  EXPECT_THAT(unknown.err, HasSubstr("git knows no revision 'nowhere' here"));
}

TEST_F(ProjectCli, InterruptedRunsGiveWhatTheyHave) {
  if (!works("timeout --version")) GTEST_SKIP() << "no timeout";
  writeProject(60, {0});
  const CommandResult result =
      check("--no-cache -j 1 --format=json", "timeout --preserve-status --signal=INT 4");
  if (result.exit_code == 1) GTEST_SKIP() << "this machine was done in time";
  EXPECT_EQ(result.exit_code, 130) << result.err;
  const json::Value report = parsed(result.out);
  ASSERT_NE(report.getAsObject(), nullptr);
  EXPECT_EQ(report.getAsObject()->getBoolean("interrupted"), true);
  const std::size_t unchecked = report.getAsObject()->getArray("unchecked_files")->size();
  const std::size_t files = report.getAsObject()->getArray("files")->size();
  EXPECT_GT(unchecked, 0u);
  EXPECT_GE(files + unchecked, 60u);
  EXPECT_LE(files + unchecked, 61u) << "at most the one in work is both";
}

TEST_F(ProjectCli, ConfigurationIsShownAndJudged) {
  write("k.cu", "__global__ void k(int* p) { *p = 1; }\n");
  write(".handoff.yaml", "checks: \"-hang\"\narch: sm_80\nbudget: {seconds: 7}\nextra-arg: [-DA]\n");
  const CommandResult dumped = run("check --dump-config --time-limit=9 k.cu");
  EXPECT_EQ(dumped.exit_code, 0) << dumped.err;
  write("dumped.yaml", dumped.out);
  EXPECT_THAT(dumped.out,
              AllOf(HasSubstr("sm_80"), HasSubstr("-hang"), HasSubstr("-DA"), HasSubstr("seconds:")));
  EXPECT_EQ(run("check --dump-config --config-file=dumped.yaml k.cu").out, dumped.out)
      << "what is dumped can be read, and says the same";
  const CommandResult explained = run("check --explain-config --time-limit=9 k.cu");
  EXPECT_THAT(explained.out, AllOf(HasSubstr("arch: sm_80\n  from "), HasSubstr(".handoff.yaml:2"),
                                   HasSubstr("budget.seconds: 9\n  from the command line (--time-limit)"),
                                   HasSubstr("budget.paths: 256\n  from the defaults")));
  EXPECT_EQ(run("check --verify-config k.cu").exit_code, 0);
  write(".handoff.yaml", "cheks: \"*\"\n");
  const CommandResult wrong = run("check --verify-config k.cu");
  EXPECT_EQ(wrong.exit_code, 2);
  EXPECT_THAT(wrong.err, HasSubstr(".handoff.yaml:1:1: error: unknown key 'cheks'; did you mean 'checks'?"));
  write(".handoff.yaml", "arch: turing\nsuppressions:\n  - {rule: hangs, reason: none}\n  - {rule: wait, reason: none}\n");
  EXPECT_THAT(run("check --verify-config k.cu").err,
              AllOf(HasSubstr(".handoff.yaml:1: error: arch: 'turing' is no target"), HasSubstr(".handoff.yaml:3: error: "),
                    HasSubstr(".handoff.yaml:4: error: ")));
  write(".handoff.yaml", "\nchecks: \"-hangs\"\n");
  EXPECT_THAT(run("check k.cu").err,
              AllOf(HasSubstr(".handoff.yaml:2"), HasSubstr("no check matches 'hangs'")));
  write(".handoff.yaml", "suppressions:\n  - {rule: hangs, reason: none}\n");
  EXPECT_THAT(run("check k.cu").err, AllOf(HasSubstr(".handoff.yaml:2"), HasSubstr("did you mean 'hang'?")));
}

TEST_F(ProjectCli, SuppressionsSilenceAndUnusedOnesAreNamed) {
  writeProject(3, {1});
  write(".handoff.yaml",
        "suppressions:\n  - {rule: missing-wait, file: \"fetch*\", reason: \"known\"}\n  - {rule: hang, "
        "reason: \"nothing\"}\n");
  const CommandResult result = check("--no-cache");
  EXPECT_EQ(result.exit_code, 0) << result.out << result.err;
  EXPECT_THAT(result.out,
              AllOf(HasSubstr("silenced by a suppression: known"),
                    HasSubstr(".handoff.yaml:3: note: the suppression of hang silences nothing")));
  EXPECT_THAT(check("--no-cache 0.cu").out, Not(HasSubstr("silences nothing"))) << "not the whole project";
}

/// Seconds that the command takes.
template <typename Run>
double timed(const Run& run) {
  const auto start = std::chrono::steady_clock::now();
  run();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// The way of a user: configure, check, repair one file, look at what is new.
TEST_F(ProjectCli, SampleUnderCMake) {
  if (!works("cmake --version")) GTEST_SKIP() << "no cmake";
  if (!works("nvcc --version") && !works("/usr/local/cuda/bin/nvcc --version")) GTEST_SKIP() << "no nvcc";
  const std::string nvcc = works("nvcc --version") ? "nvcc" : "/usr/local/cuda/bin/nvcc";
  fs::copy(repositoryRoot() / "testcases/project", folder_ / "sample", fs::copy_options::recursive);
  ASSERT_TRUE(works("cd '" + folder_.string() +
                    "' && cmake -S sample -B build -DCMAKE_EXPORT_COMPILE_COMMANDS=ON " +
                    "-DCMAKE_CUDA_COMPILER=$(command -v " + nvcc + ")"));
  CommandResult first, second;
  const std::string command = "check -p build --cache-dir=cache --format=json";
  const double cold = timed([&] { first = run(command); }), warm = timed([&] { second = run(command); });
  std::cout << "ten files: " << cold << " s, then " << warm << " s from the cache (" << cold / warm
            << " times faster)\n";
  EXPECT_EQ(first.exit_code, 1) << first.err;
  EXPECT_EQ(second.out, first.out);
  EXPECT_GT(cold / warm, 5);
  const CommandResult text = run("check -p build --cache-dir=cache --stats");
  EXPECT_THAT(text.out,
              AllOf(HasSubstr("10 files, 10 kernels: 7 verified, 0 bounded, 3 violations; 2 errors"),
                    HasSubstr("10 files as an earlier run left them"),
                    HasSubstr("indexed.cuh:12: note: missing-barrier was met in 2 files")));

  EXPECT_EQ(run("baseline create -p build --cache-dir=cache --output=known.json").exit_code, 0);
  const CommandResult fixed = run("check -p build --cache-dir=cache --fix '*/blur.cu'");
  EXPECT_THAT(fixed.err, HasSubstr("applied"));
  EXPECT_THAT(run("check -p build --cache-dir=cache --stats").out,
              AllOf(HasSubstr("8 verified, 0 bounded, 2 violations; 1 error"),
                    HasSubstr("10 files as an earlier run left them")))
      << "the check behind the repair was kept";
  EXPECT_THAT(run("baseline diff known.json -p build --cache-dir=cache").out, HasSubstr("fixed"));
}

}  // namespace
}  // namespace handoff::tests
