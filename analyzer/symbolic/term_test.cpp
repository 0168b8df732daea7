// SPDX-License-Identifier: Apache-2.0
#include "analyzer/symbolic/term.h"

#include <gtest/gtest.h>

#include <random>

#include "analyzer/symbolic/random_terms.h"

namespace handoff::symbolic {
namespace {

TEST(Terms, SimplificationKeepsValuesAndBounds) {
  for (unsigned seed = 0; seed < 20'000; ++seed) {
    RandomTerms random(seed);
    const Checked checked = random.make(1 + seed % 4);
    ASSERT_EQ(random.terms.evaluate(checked.id, RandomTerms::kLane, random.model), checked.word) << "seed " << seed;
    ASSERT_LE(random.terms[checked.id].low, checked.word) << "seed " << seed;
    ASSERT_GE(random.terms[checked.id].high, checked.word) << "seed " << seed;
    const TermId one = random.terms.ofLane(checked.id, RandomTerms::kLane);
    ASSERT_FALSE(random.terms[one].has_lanes);
    ASSERT_EQ(random.terms.evaluate(one, 0, random.model), checked.word) << "seed " << seed;
  }
}

TEST(Terms, ComparisonsWithConstantsKeepTheirTruth) {
  std::mt19937 random(7);
  for (unsigned seed = 0; seed < 20'000; ++seed) {
    RandomTerms terms_of(seed);
    Terms& terms = terms_of.terms;
    const Checked checked = terms_of.make(1 + seed % 3);
    // Near the value, so that both answers occur.
    const std::uint64_t word = (checked.word + random() % 5 - 2) & 0xffffffff;
    const TermId constant = terms.constant(word, 32);
    const auto signedOf = [](std::uint64_t w) { return static_cast<std::int32_t>(w); };
    const auto truthOf = [&](TermId id) { return terms.evaluate(id, RandomTerms::kLane, terms_of.model) != 0; };
    ASSERT_EQ(truthOf(terms.equal(checked.id, constant)), checked.word == word) << "seed " << seed;
    ASSERT_EQ(truthOf(terms.less(checked.id, constant, false)), checked.word < word) << "seed " << seed;
    ASSERT_EQ(truthOf(terms.less(constant, checked.id, false)), word < checked.word) << "seed " << seed;
    ASSERT_EQ(truthOf(terms.less(checked.id, constant, true)), signedOf(checked.word) < signedOf(word)) << "seed " << seed;
    ASSERT_EQ(truthOf(terms.less(constant, checked.id, true)), signedOf(word) < signedOf(checked.word)) << "seed " << seed;
  }
}

TEST(Terms, SubstitutionIsEvaluationAtAnotherPlace) {
  for (unsigned seed = 0; seed < 5'000; ++seed) {
    RandomTerms random(seed);
    const Checked checked = random.make(1 + seed % 4);
    const TermId t = random.terms.symbolsOf(random.terms.symbol("z", 32, 0, 9)).front();
    const auto all = random.terms.symbolsOf(checked.id);
    if (all.empty()) continue;
    Model changed = random.model;
    const auto index = random.terms[all.front()].value;
    changed[index] = 7;
    changed.push_back(0);
    const TermId replaced = random.terms.substitute(checked.id, {{all.front(), random.terms.constant(7, 32)}});
    ASSERT_EQ(random.terms.evaluate(replaced, RandomTerms::kLane, changed),
              random.terms.evaluate(checked.id, RandomTerms::kLane, changed)) << "seed " << seed;
    ASSERT_FALSE(random.terms.contains(replaced, all.front()));
    ASSERT_FALSE(random.terms.contains(replaced, t));
  }
}

/// A loop counter c + period * t.
class Counter : public ::testing::Test {
 protected:
  TermId counter(std::uint64_t start, std::uint64_t step) {
    return terms.add(terms.constant(start, 32), terms.multiply(t, terms.constant(step, 32)));
  }
  TermId number(std::uint64_t value) { return terms.constant(value, 32); }

  Terms terms;
  TermId t = terms.symbol("t", 32, 0, 1u << 24);
};

TEST_F(Counter, SlotOfARingIsConstantOverWholePeriods) {
  EXPECT_TRUE(terms.isConstant(terms.remainder(counter(7, 3), number(3), false), 1));
  EXPECT_TRUE(terms.isConstant(terms.remainder(counter(7, 12), number(3), true), 1));
  EXPECT_TRUE(terms.isConstant(terms.bitAnd(counter(5, 8), number(3)), 1));
  EXPECT_FALSE(terms.isConstant(terms.remainder(counter(7, 4), number(3), false)));
}

TEST_F(Counter, ParityOfARingIsConstantOverTwoTurns) {
  const TermId turn = terms.divide(counter(10, 6), number(3), false);
  EXPECT_TRUE(terms.isConstant(terms.bitAnd(turn, number(1)), 1));
  const TermId shifted = terms.shiftRight(counter(10, 8), number(2), false);
  EXPECT_TRUE(terms.isConstant(terms.bitAnd(shifted, number(1)), 0));
}

TEST_F(Counter, DivisionAsCompilersWriteIt) {
  // x / 3 by the high part of a product, and x - 3 * (x / 3).
  const TermId x = counter(7, 3);
  const TermId high = terms.multiplyHigh(x, number(0xaaaaaaab), false);
  const TermId quotient = terms.shiftRight(high, number(1), false);
  EXPECT_TRUE(terms.isConstant(terms.subtract(x, terms.multiply(quotient, number(3))), 1));
  // Signed x / 7: the factor is negative, so that x is added once more.
  const TermId y = counter(9, 7);
  const TermId sum = terms.add(terms.multiplyHigh(y, number(0x92492493), true), y);
  const TermId by_seven = terms.shiftRight(sum, number(2), true);
  EXPECT_TRUE(terms.isConstant(terms.subtract(y, terms.multiply(by_seven, number(7))), 2));
}

TEST_F(Counter, DivisionOfAWideCounter) {
  // A 64-bit counter: the high half of the product is cut to 32 bits before it is shifted.
  const TermId x = terms.resize(counter(7, 12), 64);
  const TermId high = terms.resize(terms.multiplyHigh(x, terms.constant(0xaaaaaaaaaaaaaaabull, 64), false), 32);
  const TermId quotient = terms.shiftRight(high, number(1), false);
  EXPECT_EQ(quotient, terms.divide(counter(7, 12), number(3), false));
}

TEST_F(Counter, ACounterOfEightBitsWraps) {
  const TermId narrow = terms.bitAnd(counter(7, 3), number(255));
  EXPECT_FALSE(terms.isConstant(terms.remainder(narrow, number(3), false)));
  // With a ring of four the wrap does no harm.
  const TermId harmless = terms.bitAnd(counter(7, 4), number(255));
  EXPECT_TRUE(terms.isConstant(terms.bitAnd(harmless, number(3)), 3));
}

TEST_F(Counter, AnUnboundedCounterMayWrapBeforeItIsDivided) {
  const TermId free = terms.symbol("u", 32, 0, 0xffffffff);
  const TermId x = terms.multiply(free, number(3));
  EXPECT_FALSE(terms.isConstant(terms.remainder(x, number(3), false)));
  EXPECT_TRUE(terms.isConstant(terms.bitAnd(terms.multiply(free, number(4)), number(3)), 0));
}

TEST_F(Counter, ComparisonsComeDownToTheSymbol) {
  const TermId k = terms.symbol("K", 32, 0, (1u << 30) - 1);
  const auto isLess = [&](std::uint64_t limit) { return terms.less(k, number(limit), false); };
  const TermId tiles = terms.divide(terms.add(k, number(31)), number(32), true);
  EXPECT_EQ(terms.less(tiles, number(3), true), isLess(65));
  EXPECT_EQ(terms.less(number(2), tiles, true), terms.bitNot(isLess(65)));
  EXPECT_EQ(terms.less(terms.add(tiles, number(0xffffffff)), number(2), true), isLess(65));
  EXPECT_EQ(terms.equal(terms.add(k, number(5)), number(9)), terms.equal(k, number(4)));
  EXPECT_TRUE(terms.isConstant(terms.equal(terms.multiply(k, number(4)), number(0xfffffff9)), 0));
  // A choice between constants, as the depth of a ring: whatever is computed of it, its condition decides.
  const TermId depth = terms.choose(isLess(2080), number(1), number(3));
  const TermId address = terms.add(terms.multiply(terms.bitAnd(terms.add(depth, number(1)), number(3)), number(2048)), number(16));
  EXPECT_EQ(terms.equal(address, number(4112)), isLess(2080));
  EXPECT_EQ(terms.equal(address, number(16)), terms.bitNot(isLess(2080)));
  EXPECT_TRUE(terms.isConstant(terms.equal(address, number(2064)), 0));
}

TEST_F(Counter, MergedLanesAreFoundAgain) {
  const TermId merged = terms.merge(1, counter(0, 4), number(9));
  EXPECT_EQ(terms.ofLanes(merged, 1), counter(0, 4));
  EXPECT_EQ(terms.ofLanes(merged, 0xfffffffe), number(9));
  EXPECT_EQ(terms.merge(1, counter(4, 4), merged), terms.merge(1, counter(4, 4), number(9)));
}

}  // namespace
}  // namespace handoff::symbolic
