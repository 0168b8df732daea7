// SPDX-License-Identifier: Apache-2.0
#include "analyzer/symbolic/refutations.h"

#include <gtest/gtest.h>

namespace handoff::symbolic {
namespace {

class RefutationsTest : public ::testing::Test {
 protected:
  Assumption equals(std::uint64_t value, bool holds = true) { return {terms.equal(x, terms.constant(value, 32)), holds}; }
  Assumption isBelow(std::int64_t limit, bool holds, bool is_signed) {
    return {terms.less(wild, terms.constant(static_cast<std::uint64_t>(limit), 32), is_signed), holds};
  }

  Terms terms;
  TermId x = terms.symbol("x", 32, 0, 1000), y = terms.symbol("y", 32, 0, 1000);
  TermId wild = terms.subtract(terms.multiply(x, y), terms.multiply(y, y));
  Refutations refuted{terms};
};

TEST_F(RefutationsTest, CoverWhatHoldsThemAndMore) {
  refuted.add({equals(3), equals(7, false)}, {});
  EXPECT_TRUE(refuted.cover({equals(7, false), equals(3)}, {}));
  EXPECT_TRUE(refuted.cover({equals(1), equals(3), equals(5), equals(7, false), equals(9)}, {}));
  EXPECT_FALSE(refuted.cover({equals(3)}, {}));
  EXPECT_FALSE(refuted.cover({equals(3), equals(7)}, {}));
  EXPECT_FALSE(refuted.cover({equals(3, false), equals(7, false)}, {}));
}

TEST_F(RefutationsTest, HoldWithinTheirRangesOnly) {
  refuted.add({equals(3)}, {{x, Intervals(10, 20)}});
  EXPECT_TRUE(refuted.cover({equals(3)}, {{x, Intervals(10, 20)}}));
  EXPECT_TRUE(refuted.cover({equals(3)}, {{x, Intervals(12, 13)}, {y, Intervals(0, 1)}}));
  EXPECT_FALSE(refuted.cover({equals(3)}, {{x, Intervals(10, 21)}}));
  EXPECT_FALSE(refuted.cover({equals(3)}, {{y, Intervals(10, 20)}}));
  EXPECT_FALSE(refuted.cover({equals(3)}, {}));
  EXPECT_FALSE(refuted.cover(equals(3)));
}

TEST_F(RefutationsTest, WhatSaysMoreIsRefutedAsWell) {
  for (const bool is_signed : {true, false}) {
    Refutations refuted(terms);
    refuted.add({equals(3), isBelow(100, false, is_signed)}, {});  // not 100 and more
    EXPECT_TRUE(refuted.cover({equals(3), isBelow(101, false, is_signed)}, {}));
    EXPECT_TRUE(refuted.cover({equals(3), isBelow(50, false, is_signed), isBelow(100, false, is_signed)}, {}));
    EXPECT_FALSE(refuted.cover({equals(3), isBelow(99, false, is_signed)}, {}));
    EXPECT_FALSE(refuted.cover({equals(3), isBelow(101, true, is_signed)}, {}));
    EXPECT_FALSE(refuted.cover({equals(3), isBelow(101, false, !is_signed)}, {})) << "another order";
  }
  refuted.add({isBelow(-5, true, true)}, {});
  EXPECT_TRUE(refuted.cover(isBelow(-6, true, true)));
  EXPECT_FALSE(refuted.cover(isBelow(-4, true, true)));
  EXPECT_FALSE(refuted.cover(isBelow(5, true, true)));
}

}  // namespace
}  // namespace handoff::symbolic
