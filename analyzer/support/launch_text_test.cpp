// SPDX-License-Identifier: Apache-2.0
#include "analyzer/support/launch_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace handoff {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

std::string mistake(std::string_view text, Block block = Block::kNeeded) {
  const Result<LaunchText> launch = parseLaunchText(text, block);
  return launch ? "" : launch.error().message;
}

TEST(LaunchText, TakesExtentsBytesAndParameters) {
  const Result<LaunchText> launch =
      parseLaunchText("  block=32x8 grid=16 cluster=2,1,1 \t smem=49152 K=64 p.offset=-3 ", Block::kNeeded);
  ASSERT_TRUE(launch.hasValue());
  EXPECT_EQ(launch->block, (LaunchText::Extent{32, 8, 1}));
  EXPECT_EQ(launch->grid, (LaunchText::Extent{16, 1, 1}));
  EXPECT_EQ(launch->cluster, (LaunchText::Extent{2, 1, 1}));
  EXPECT_EQ(launch->shared_bytes, 49152);
  EXPECT_THAT(launch->parameters, ElementsAre(Pair("K", 64), Pair("p.offset", -3)));
}

TEST(LaunchText, WhatIsNotSaidIsEmpty) {
  const Result<LaunchText> launch = parseLaunchText("K=1", Block::kOptional);
  ASSERT_TRUE(launch.hasValue());
  EXPECT_EQ(launch->block, LaunchText::Extent());
  EXPECT_EQ(launch->shared_bytes, std::nullopt);
}

TEST(LaunchText, NamesTheFieldThatIsWrong) {
  EXPECT_THAT(mistake("block=128x0"), HasSubstr("'block=128x0'"));
  EXPECT_THAT(mistake("block=1x2x3x4"), HasSubstr("up to three"));
  EXPECT_THAT(mistake("block=32x"), HasSubstr("up to three"));
  EXPECT_THAT(mistake("block="), HasSubstr("up to three"));
  EXPECT_THAT(mistake("block=4294967297"), HasSubstr("up to three"));
  EXPECT_THAT(mistake("block=32 smem=-1"), HasSubstr("number of bytes"));
  EXPECT_THAT(mistake("block=32 smem=48k"), HasSubstr("number of bytes"));
  EXPECT_THAT(mistake("block=32 K=many"), HasSubstr("kernel parameter"));
  EXPECT_THAT(mistake("block=32 K=99999999999999999999"), HasSubstr("kernel parameter"));
  EXPECT_THAT(mistake("block=32 K"), HasSubstr("name=value"));
  EXPECT_THAT(mistake("block = 32"), HasSubstr("name=value"));
}

TEST(LaunchText, FieldsComeOnce) {
  EXPECT_THAT(mistake("block=32 block=64"), HasSubstr("'block' is given twice"));
  EXPECT_THAT(mistake("block=32 K=1 K=1"), HasSubstr("'K' is given twice"));
}

TEST(LaunchText, BlockIsAskedForWhereNothingElseGivesOne) {
  EXPECT_THAT(mistake("K=1"), HasSubstr("needs its block"));
  EXPECT_EQ(mistake("K=1", Block::kOptional), "");
}

}  // namespace
}  // namespace handoff
