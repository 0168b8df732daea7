// SPDX-License-Identifier: Apache-2.0
#include "analyzer/symbolic/intervals.h"

#include <gtest/gtest.h>

#include "analyzer/symbolic/random_terms.h"

namespace handoff::symbolic {
namespace {

using Parts = std::vector<Intervals::Part>;

TEST(Intervals, IntersectionAndComplement) {
  Intervals set(3, 9);
  set.append(20, 30);
  EXPECT_EQ(set.complement(0, 100).parts(), (Parts{{0, 2}, {10, 19}, {31, 100}}));
  EXPECT_EQ(set.complement(3, 25).parts(), (Parts{{10, 19}}));
  EXPECT_EQ(set.intersectedWith({8, 21}).parts(), (Parts{{8, 9}, {20, 21}}));
  EXPECT_TRUE(set.intersectedWith({10, 19}).isEmpty());
  set.append(31, 40);
  EXPECT_EQ(set.parts().back(), (Intervals::Part{20, 40}));
}

class SymbolSetsTest : public ::testing::Test {
 protected:
  TermId number(std::uint64_t value) { return terms.constant(value, 32); }
  TermId minimum(TermId a, TermId b) { return terms.choose(terms.less(a, b, true), a, b); }

  Terms terms;
  TermId k = terms.symbol("K", 32, 0, 1000);
  SymbolSets sets{terms};
};

TEST_F(SymbolSetsTest, LoopsOfTiles) {
  const TermId tiles = terms.divide(terms.add(k, number(31)), number(32), true);
  EXPECT_EQ(sets.of(terms.equal(tiles, number(3)))->parts(), (Parts{{65, 96}}));
  const TermId depth = terms.choose(terms.less(k, number(500), false), number(1), number(3));
  const TermId is_last = terms.less(depth, terms.subtract(tiles, number(4)), true);
  EXPECT_EQ(sets.of(is_last)->parts(), (Parts{{161, 1000}}));
}

TEST_F(SymbolSetsTest, MinimaOfWhatIsLeft) {
  // As chunks of a buffer: each takes at most 64 of what the ones before have left.
  const TermId first = minimum(k, number(64));
  const TermId left = terms.subtract(k, first);
  const TermId second = minimum(left, number(64));
  EXPECT_EQ(sets.of(terms.equal(second, number(64)))->parts(), (Parts{{128, 1000}}));
  EXPECT_EQ(sets.of(terms.equal(second, number(5)))->parts(), (Parts{{69, 69}}));
}

TEST_F(SymbolSetsTest, WhatIsNotUnderstoodIsNotAnswered) {
  EXPECT_FALSE(sets.of(terms.equal(terms.multiply(k, k), number(49))).has_value());
}

TEST(SymbolSets, AgreeWithEvaluation) {
  std::mt19937 random(11);
  unsigned answered = 0;
  for (unsigned seed = 0; seed < 40'000; ++seed) {
    RandomTerms terms_of(seed);
    Terms& terms = terms_of.terms;
    const TermId a = terms.ofLane(terms_of.make(1 + seed % 3).id, RandomTerms::kLane);
    const TermId b = terms.ofLane(terms_of.make(seed % 2).id, RandomTerms::kLane);
    const TermId order = terms.less(a, b, seed % 3 == 0);
    const TermId predicate = seed % 5 == 0 ? terms.equal(a, b) : seed % 5 == 1 ? terms.bitAnd(order, terms.bitNot(terms.equal(b, a))) : order;
    const auto symbols = terms.symbolsOf(predicate);
    if (symbols.size() != 1) continue;
    SymbolSets sets(terms);
    const auto& set = sets.of(predicate);
    if (!set) continue;
    ++answered;
    const Term& symbol = terms[symbols.front()];
    std::vector<std::uint64_t> words{symbol.low, symbol.high};
    for (int i = 0; i < 20; ++i) words.push_back(symbol.low + random() % (symbol.high - symbol.low));
    for (int i = 0; i < 10; ++i) words.push_back(symbol.low + random() % 100);
    for (const auto& [low, high] : set->parts()) {
      words.insert(words.end(), {low, high});
      if (low > symbol.low) words.push_back(low - 1);
      if (high < symbol.high) words.push_back(high + 1);
    }
    Model model = terms_of.model;
    for (const std::uint64_t word : words) {
      model[symbol.value] = word;
      ASSERT_EQ(set->contains(word), terms.evaluate(predicate, 0, model) != 0) << "seed " << seed << " at " << word << ": " << terms.text(predicate);
    }
  }
  EXPECT_GT(answered, 5'000u);
}

}  // namespace
}  // namespace handoff::symbolic
