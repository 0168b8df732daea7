// SPDX-License-Identifier: Apache-2.0
// A machine that does not do its part: outputs that cannot be written, a compiler that is killed, a reader that
// leaves. And what the program does to the machine: which files it writes, which programs it starts.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>

#include "analyzer/tests/command.h"
#include "analyzer/tests/repository.h"

namespace handoff::tests {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

constexpr const char* kBad = "testcases/barrier-only-handoff/bad_row_exchange.cu";

bool works(const std::string& command) {
  return std::system((command + " >/dev/null 2>&1").c_str()) == 0;  // NOLINT(concurrency-mt-unsafe)
}

class AbuseCli : public ::testing::Test {
 protected:
  AbuseCli() {
    folder_ = fs::temp_directory_path() / ("handoff_abuse_" + std::to_string(getpid()));
    fs::create_directories(folder_);
    fs::copy_file(repositoryRoot() / kBad, folder_ / "a.cu");
  }
  ~AbuseCli() override { fs::remove_all(folder_); }

  CommandResult check(const std::string& arguments, const std::string& prefix = "") {
    return runHandoff("check --cuda-path=none " + arguments + " a.cu", folder_.string(), prefix);
  }

  fs::path folder_;
};

TEST_F(AbuseCli, OutputsOnAFullDiskAreErrors) {
  if (!fs::exists("/dev/full")) GTEST_SKIP() << "no /dev/full";
  for (const char* output : {"--output=/dev/full", "--format=json --output=/dev/full", "--format=sarif --output=/dev/full",
                             "--report=json:/dev/full", "--report=html:/dev/full", "--export-fixes=/dev/full"}) {
    const CommandResult result = check(std::string("--no-cache ") + output);
    EXPECT_EQ(result.exit_code, 2) << output << "\n" << result.err;
    EXPECT_THAT(result.err, HasSubstr("cannot")) << output;
  }
}

TEST_F(AbuseCli, FilesBeyondTheLimitAreErrors) {
  const CommandResult result = check("--no-cache --format=html --output=report.html", "sh -c 'ulimit -f 8; trap \"\" XFSZ; exec \"$@\"' sh");
  EXPECT_EQ(result.exit_code, 2) << result.err;
  EXPECT_THAT(result.err, HasSubstr("cannot write"));
}

TEST_F(AbuseCli, CacheThatIsReadOnlyCostsOnlyTime) {
  if (!works("unshare -m true")) GTEST_SKIP() << "no right to mount";
  fs::create_directories(folder_ / "cache");
  const CommandResult result = check(
      "--cache-dir=cache", "unshare -m sh -c 'mount -t tmpfs none cache && mount -o remount,ro cache && exec \"$@\"' sh");
  EXPECT_EQ(result.exit_code, 1) << result.err;
  EXPECT_EQ(result.out, check("--no-cache").out);
}

TEST_F(AbuseCli, ReaderThatLeaves) {
  // The program ends by SIGPIPE or by itself, and does not abort.
  check("--no-cache --format=html", "sh -c '{ \"$@\"; echo $? >status; } | true' sh");
  int status = -1;
  std::ifstream(folder_ / "status") >> status;
  EXPECT_TRUE(status == 1 || status == 2 || status == 128 + SIGPIPE) << status;
}

TEST_F(AbuseCli, CompilerThatIsKilled) {
  const fs::path toolkit = "/usr/local/cuda";
  if (!fs::exists(toolkit / "bin/nvcc")) GTEST_SKIP() << "no CUDA toolkit in " << toolkit;
  fs::create_directories(folder_ / "cuda/bin");
  for (const fs::directory_entry& entry : fs::directory_iterator(toolkit))
    if (entry.path().filename() != "bin") fs::create_symlink(entry.path(), folder_ / "cuda" / entry.path().filename());
  std::ofstream(folder_ / "cuda/bin/nvcc") << "#!/bin/sh\nkill -9 $$\n";
  fs::permissions(folder_ / "cuda/bin/nvcc", fs::perms::owner_all);
  const CommandResult result =
      runHandoff("check --no-cache --frontend=nvcc --cuda-path=cuda a.cu", folder_.string());
  EXPECT_EQ(result.exit_code, 2) << result.out;
  EXPECT_THAT(result.out, HasSubstr("was ended by signal 9"));
}

TEST_F(AbuseCli, WritesItsOutputsAndStartsNothing) {
  if (!works("strace -o /dev/null true")) GTEST_SKIP() << "no strace, or no right to use it";
  fs::create_directories(folder_ / "cache");
  std::ofstream(folder_ / "b.cu") << "#pragma comment(lib, \"x\")\n#ifdef __CUDACC__\n__global__ void k(int* p) { *p = 1; }\n#endif\n";
  check("--cache-dir=cache --format=json --output=report.json --report=sarif:report.sarif b.cu",
        "strace -f -s 4000 -e trace=open,openat,creat,unlink,rename,execve,connect,socket -o trace.txt");
  std::ifstream trace(folder_ / "trace.txt");
  const std::regex written(R"re((?:open|openat|creat)\((?:AT_FDCWD, )?"([^"]*)", [^)]*(?:O_WRONLY|O_RDWR|O_CREAT))re");
  const std::regex started(R"re(execve\("([^"]*)")re");
  unsigned programs = 0, files = 0;
  for (std::string line; std::getline(trace, line);) {
    std::smatch match;
    EXPECT_EQ(line.find("connect("), std::string::npos) << line;
    if (std::regex_search(line, match, started) && ++programs > 1) {
      EXPECT_THAT(match[1].str(), ::testing::EndsWith("/git")) << line;
    }
    if (!std::regex_search(line, match, written)) continue;
    ++files;
    const std::string path = match[1].str();
    const bool is_expected = path == "report.json" || path == "report.sarif" || path.starts_with("cache/") ||
                             path.starts_with("/dev/") || path.starts_with(folder_.string() + "/cache/");
    EXPECT_TRUE(is_expected) << line;
  }
  EXPECT_EQ(programs, 1u) << "the program itself";
  EXPECT_GE(files, 3u) << "both reports and an entry";
}

}  // namespace
}  // namespace handoff::tests
