// SPDX-License-Identifier: Apache-2.0
#include "analyzer/symbolic/term.h"

#include <gtest/gtest.h>

#include <random>

#include "analyzer/symbolic/fold.h"

namespace handoff::symbolic {
namespace {

/// A term, and its value for one lane and one assignment by plain arithmetic.
struct Checked {
  TermId id;
  std::uint64_t word;
};

class RandomTerms {
 public:
  explicit RandomTerms(unsigned seed) : random_(seed) {
    x_ = terms.symbol("x", 32, 0, 0x7fffffff);
    t_ = terms.symbol("t", 32, 0, 1u << 20);
    y_ = terms.symbol("y", 32, 0, 0xffffffff);
    model = {random_() & 0x7fffffff, random_() & 0xfffff, random_()};
    for (unsigned l = 0; l < kLanes; ++l) lanes_[l] = l * 8 + 3;
  }

  Checked make(unsigned depth) {
    if (depth == 0) return leaf();
    const Checked a = make(depth - 1), b = random_() % 2 ? make(depth - 1) : small();
    switch (random_() % 18) {
      case 0: case 1: return {terms.add(a.id, b.id), fold(TermOp::kAdd, 32, a.word, b.word)};
      case 2: return {terms.subtract(a.id, b.id), (a.word - b.word) & 0xffffffff};
      case 3: case 4: return {terms.multiply(a.id, b.id), fold(TermOp::kMul, 32, a.word, b.word)};
      case 5: return {terms.multiplyHigh(a.id, b.id, false), fold(TermOp::kMulHighUnsigned, 32, a.word, b.word)};
      case 6: return {terms.multiplyHigh(a.id, b.id, true), fold(TermOp::kMulHighSigned, 32, a.word, b.word)};
      case 7: return {terms.divide(a.id, b.id, false), fold(TermOp::kUnsignedDiv, 32, a.word, b.word)};
      case 8: return {terms.divide(a.id, b.id, true), fold(TermOp::kSignedDiv, 32, a.word, b.word)};
      case 9: return {terms.remainder(a.id, b.id, false), fold(TermOp::kUnsignedRem, 32, a.word, b.word)};
      case 10: return {terms.remainder(a.id, b.id, true), fold(TermOp::kSignedRem, 32, a.word, b.word)};
      case 11: return {terms.bitAnd(a.id, b.id), a.word & b.word};
      case 12: return {terms.bitOr(a.id, b.id), a.word | b.word};
      case 13: return {terms.bitXor(a.id, b.id), a.word ^ b.word};
      case 14: {
        const bool is_signed = random_() % 2;
        const TermId less = terms.less(a.id, b.id, is_signed);
        const bool holds = is_signed ? static_cast<std::int32_t>(a.word) < static_cast<std::int32_t>(b.word) : a.word < b.word;
        return {terms.choose(less, b.id, a.id), holds ? b.word : a.word};
      }
      case 15: {
        const unsigned by = random_() % 31;
        const bool is_signed = random_() % 2;
        return {terms.shiftRight(a.id, terms.constant(by, 32), is_signed),
                fold(is_signed ? TermOp::kShrArithmetic : TermOp::kShrLogical, 32, a.word, by)};
      }
      case 16: {
        const TermId wide = terms.multiply(terms.resize(a.id, 64), terms.constant(0xaaaaaaab, 64));
        return {terms.resize(terms.shiftRight(wide, terms.constant(33, 64), false), 32), a.word / 3};
      }
      default: {
        const unsigned width = 1 + random_() % 31;
        const bool is_signed = random_() % 2;
        const std::uint64_t low = a.word & widthMask(width);
        const std::uint64_t back = is_signed ? signExtended(low, width) & 0xffffffff : low;
        return {terms.resize(terms.resize(a.id, width), 32, is_signed), back};
      }
    }
  }

  static constexpr unsigned kLane = 13;
  Terms terms;
  Model model;

 private:
  Checked constant(std::uint64_t word) { return {terms.constant(word, 32), word & 0xffffffff}; }
  Checked small() { return constant(1 + random_() % 13); }
  Checked leaf() {
    switch (random_() % 6) {
      case 0: return {x_, model[0]};
      case 1: return {t_, model[1]};
      case 2: return {y_, model[2]};
      case 3: return {terms.lanes(lanes_, 32), lanes_[kLane]};
      case 4: return constant(random_());
      default: return small();
    }
  }

  std::mt19937 random_;
  TermId x_, y_, t_;
  LaneWords lanes_;
};

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

TEST_F(Counter, MergedLanesAreFoundAgain) {
  const TermId merged = terms.merge(1, counter(0, 4), number(9));
  EXPECT_EQ(terms.ofLanes(merged, 1), counter(0, 4));
  EXPECT_EQ(terms.ofLanes(merged, 0xfffffffe), number(9));
  EXPECT_EQ(terms.merge(1, counter(4, 4), merged), terms.merge(1, counter(4, 4), number(9)));
}

}  // namespace
}  // namespace handoff::symbolic
