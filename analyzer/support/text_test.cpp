// SPDX-License-Identifier: Apache-2.0
#include "analyzer/support/text.h"

#include <gtest/gtest.h>

#include <vector>

namespace handoff {
namespace {

TEST(Suggestion, NamesTheMostSimilarWord) {
  const std::vector<std::string_view> words = {"block", "grid", "cluster", "smem", "K"};
  EXPECT_EQ(suggestion("blok", words), "; did you mean 'block'?");
  EXPECT_EQ(suggestion("cluser", words), "; did you mean 'cluster'?");
  EXPECT_EQ(suggestion("k", words), "; did you mean 'K'?");
}

TEST(Suggestion, NothingSimilarNothingSaid) {
  const std::vector<std::string_view> words = {"block", "grid"};
  EXPECT_EQ(suggestion("iterations", words), "");
  EXPECT_EQ(suggestion("x", {}), "");
}

TEST(Glob, StarStandsForAnyText) {
  EXPECT_TRUE(matchesGlob("ring_sum<3>(const float *)", "ring_*<3>*"));
  EXPECT_TRUE(matchesGlob("ring", "*ring*"));
  EXPECT_FALSE(matchesGlob("ring_sum", "ring"));
  EXPECT_FALSE(matchesGlob("", "r*"));
}

}  // namespace
}  // namespace handoff
