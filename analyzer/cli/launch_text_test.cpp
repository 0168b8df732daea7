// SPDX-License-Identifier: Apache-2.0
#include "analyzer/cli/launch_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace handoff::cli {
namespace {

using testing::HasSubstr;

TEST(LaunchText, TakesExtentsBytesAndParameters) {
  EXPECT_EQ(checkLaunchText("block=128 grid=16x2 cluster=2,1,1 smem=49152 K=64 p.offset=-3"), "");
  EXPECT_EQ(checkLaunchText("  block=32x8x2  "), "");
}

TEST(LaunchText, NamesTheFieldThatIsWrong) {
  EXPECT_THAT(checkLaunchText("block=128x0"), HasSubstr("'block=128x0'"));
  EXPECT_THAT(checkLaunchText("block=1x2x3x4"), HasSubstr("up to three"));
  EXPECT_THAT(checkLaunchText("block=32x"), HasSubstr("up to three"));
  EXPECT_THAT(checkLaunchText("block=32 smem=-1"), HasSubstr("number of bytes"));
  EXPECT_THAT(checkLaunchText("block=32 K=many"), HasSubstr("kernel parameter"));
  EXPECT_THAT(checkLaunchText("block=32 K"), HasSubstr("name=value"));
}

TEST(LaunchText, BlockIsNeeded) { EXPECT_THAT(checkLaunchText(""), HasSubstr("needs its block")); }

}  // namespace
}  // namespace handoff::cli
