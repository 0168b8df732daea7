// SPDX-License-Identifier: Apache-2.0
#include "analyzer/report/paths.h"

#include <gtest/gtest.h>

namespace handoff::report {
namespace {

SourceFrame frame(const std::string& file, std::uint32_t line) { return {{file, line, 1}, "f"}; }

TEST(Paths, ToolkitAndSystemHeadersAreNotTheUsers) {
  const Paths paths("/home/me/project", {"/data/toolkit/"});
  EXPECT_FALSE(paths.isUserFile("/usr/local/cuda/include/cuda_pipeline.h"));
  EXPECT_FALSE(paths.isUserFile("/usr/local/cuda/bin/../targets/x86_64-linux/include/cuda_pipeline.h"));
  EXPECT_FALSE(paths.isUserFile("/data/toolkit/include/cuda_pipeline.h"));
  EXPECT_FALSE(paths.isUserFile("/usr/include/c++/12/vector"));
  EXPECT_FALSE(paths.isUserFile("<built-in>"));
  EXPECT_FALSE(paths.isUserFile(""));
}

TEST(Paths, HeadersOfTheProjectAreTheUsers) {
  const Paths paths("/home/me/project", {"/data/toolkit"});
  EXPECT_TRUE(paths.isUserFile("/home/me/project/include/copy.cuh"));
  EXPECT_TRUE(paths.isUserFile("/data/toolkit2/a.cu"));
  EXPECT_TRUE(paths.isUserFile("a.cu"));
}

TEST(Paths, ReportsAtTheInnermostFrameOfTheUser) {
  const Paths paths("/p", {});
  const SourceStack stack = {frame("/usr/local/cuda/include/x.h", 3), frame("/p/copy.cuh", 9),
                             frame("/p/a.cu", 20)};
  EXPECT_EQ(paths.ownFrame(stack), 1u);
  EXPECT_EQ(paths.ownPos(stack).file, "/p/copy.cuh");
}

TEST(Paths, PrefersSourceToPtx) {
  const Paths paths("/p", {});
  EXPECT_EQ(paths.ownFrame({frame("/p/a.ptx", 300), frame("/p/a.cu", 20)}), 1u);
  EXPECT_EQ(paths.ownFrame({frame("/p/a.ptx", 300)}), 0u);
}

TEST(Paths, FallsBackToTheOutermostFrame) {
  const Paths paths("/p", {});
  EXPECT_EQ(paths.ownFrame({frame("/usr/include/a.h", 1), frame("/usr/include/b.h", 2)}), 1u);
  EXPECT_EQ(paths.ownFrame({}), std::nullopt);
  EXPECT_FALSE(paths.ownPos({}).isKnown());
}

TEST(Paths, PrintsRelativePathsBelowTheWorkingDirectory) {
  const Paths paths("/home/me/project", {});
  EXPECT_EQ(paths.shorten("/home/me/project/src/../a.cu"), "a.cu");
  EXPECT_EQ(paths.shorten("./src/a.cu"), "src/a.cu");
  EXPECT_EQ(paths.shorten("/home/me/project2/a.cu"), "/home/me/project2/a.cu");
}

}  // namespace
}  // namespace handoff::report
