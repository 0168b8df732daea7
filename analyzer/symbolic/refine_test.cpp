// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <random>

#include "analyzer/symbolic/random_terms.h"

namespace handoff::symbolic {
namespace {

class IsAtMost : public ::testing::Test {
 protected:
  TermId number(std::uint64_t value) { return terms.constant(value, 32); }
  TermId minimum(TermId a, std::uint64_t b) { return terms.choose(terms.less(a, number(b), true), a, number(b)); }
  TermId inside(TermId at) { return terms.bitAnd(terms.bitNot(terms.less(at, number(0), true)), terms.less(at, columns, true)); }

  Terms terms;
  TermId columns = terms.symbol("columns", 32, 0, (1u << 30) - 1);
  TermId block = terms.symbol("block", 32, 0, (1u << 24) - 1);
  TermId at = terms.add(terms.multiply(block, number(512)), number(12));   // may wrap
  TermId left = terms.subtract(columns, at);
};

TEST_F(IsAtMost, WhatIsLeftCutToTheSizeOfACopy) {
  const TermId bytes = terms.multiply(minimum(left, 4), number(4));
  EXPECT_TRUE(terms.isAtMost(terms.choose(inside(at), bytes, number(0)), 16));
  EXPECT_FALSE(terms.isAtMost(terms.choose(inside(at), bytes, number(0)), 15));
  EXPECT_FALSE(terms.isAtMost(bytes, 16)) << "beyond the end it is negative";
  EXPECT_FALSE(terms.isAtMost(terms.choose(inside(at), bytes, number(20)), 16));
  const TermId below_only = terms.less(at, columns, true);
  EXPECT_FALSE(terms.isAtMost(terms.choose(below_only, bytes, number(0)), 16)) << "the difference of a negative place may wrap";
}

TEST_F(IsAtMost, AnotherDifferenceSaysNothing) {
  const TermId further = terms.add(at, number(8));
  const TermId bytes = terms.multiply(minimum(terms.subtract(columns, further), 4), number(4));
  EXPECT_FALSE(terms.isAtMost(terms.choose(inside(at), bytes, number(0)), 16));
}

TEST_F(IsAtMost, ClampedFromBelowAndAbove) {
  const TermId natural = terms.choose(terms.less(left, number(0), true), number(0), left);
  EXPECT_TRUE(terms.isAtMost(terms.multiply(minimum(natural, 8), number(2)), 16));
  EXPECT_FALSE(terms.isAtMost(terms.multiply(minimum(natural, 9), number(2)), 16));
  EXPECT_FALSE(terms.isAtMost(natural, 16));
}

TEST_F(IsAtMost, OneSideOfADisjunctionIsLeft) {
  const TermId is_negative = terms.less(left, number(0), true), is_small = terms.less(left, number(8), false);
  const TermId natural = terms.choose(is_negative, number(0), left);
  EXPECT_TRUE(terms.isAtMost(terms.choose(terms.bitOr(is_negative, is_small), natural, number(8)), 8));
  EXPECT_FALSE(terms.isAtMost(terms.choose(terms.bitOr(inside(at), is_small), natural, number(8)), 8));
}

TEST_F(IsAtMost, NeverLessThanAValue) {
  std::mt19937 random(3);
  unsigned bounded = 0;
  for (unsigned seed = 0; seed < 60'000; ++seed) {
    RandomTerms of(seed);
    Terms& own = of.terms;
    const auto constant = [&](std::uint64_t word) { return own.constant(word, 32); };
    const Checked a = of.make(seed % 3), b = of.make(1);
    const TermId difference = own.subtract(a.id, b.id);
    const std::uint64_t size = 1 + random() % 16, times = 1 + random() % 4;
    const TermId cut = own.choose(own.less(difference, constant(size), random() % 2 != 0), difference, constant(size));
    TermId guard = own.less(b.id, a.id, random() % 2 != 0);
    if (random() % 2 != 0) guard = own.bitAnd(guard, own.bitNot(own.less(b.id, constant(random() % 2), true)));
    if (random() % 4 == 0) guard = own.bitOr(guard, own.less(difference, constant(size), false));
    const TermId term = own.choose(guard, own.multiply(cut, constant(times)), constant(random() % 8));
    const std::uint64_t most = size * times;
    if (!own.isAtMost(term, most)) continue;
    ++bounded;
    ASSERT_LE(own.evaluate(term, RandomTerms::kLane, of.model), most) << "seed " << seed << ": " << own.text(term);
  }
  EXPECT_GT(bounded, 5'000u);
}

}  // namespace
}  // namespace handoff::symbolic
