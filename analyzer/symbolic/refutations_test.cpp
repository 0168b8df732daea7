// SPDX-License-Identifier: Apache-2.0
#include "analyzer/symbolic/refutations.h"

#include <gtest/gtest.h>

namespace handoff::symbolic {
namespace {

constexpr TermId kX = 100;

TEST(Refutations, CoverWhatHoldsThemAndMore) {
  Refutations refuted;
  refuted.add({{3, true}, {7, false}}, {});
  EXPECT_TRUE(refuted.cover({{3, true}, {7, false}}, {}));
  EXPECT_TRUE(refuted.cover({{1, true}, {3, true}, {5, true}, {7, false}, {9, true}}, {}));
  EXPECT_FALSE(refuted.cover({{3, true}}, {}));
  EXPECT_FALSE(refuted.cover({{3, true}, {7, true}}, {}));
  EXPECT_FALSE(refuted.cover({{3, false}, {7, false}}, {}));
}

TEST(Refutations, HoldWithinTheirRangesOnly) {
  Refutations refuted;
  refuted.add({{3, true}}, {{kX, Intervals(10, 20)}});
  EXPECT_TRUE(refuted.cover({{3, true}}, {{kX, Intervals(10, 20)}}));
  EXPECT_TRUE(refuted.cover({{3, true}}, {{kX, Intervals(12, 13)}, {kX + 1, Intervals(0, 1)}}));
  EXPECT_FALSE(refuted.cover({{3, true}}, {{kX, Intervals(10, 21)}}));
  EXPECT_FALSE(refuted.cover({{3, true}}, {{kX + 1, Intervals(10, 20)}}));
  EXPECT_FALSE(refuted.cover({{3, true}}, {}));
  EXPECT_FALSE(refuted.cover(Assumption{3, true}));
}

}  // namespace
}  // namespace handoff::symbolic
