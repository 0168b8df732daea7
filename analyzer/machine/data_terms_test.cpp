// SPDX-License-Identifier: Apache-2.0
// Where data may lead: bounds, and questions to Z3.
#include "analyzer/machine/data_terms.h"

#include <gtest/gtest.h>

namespace handoff::machine {
namespace {

using symbolic::TermId;
using Answer = DataQuestions::Answer;

class DataTermsTest : public testing::Test {
 protected:
  TermId number(std::uint64_t value) { return data_.terms().constant(value, 32); }
  /// 1024 + 4 * (datum & mask).
  TermId word(std::uint64_t mask) {
    symbolic::Terms& terms = data_.terms();
    datum_ = data_.fresh(32, 7);
    return terms.add(number(1024), terms.multiply(terms.bitAnd(datum_, number(mask)), number(4)));
  }

  DataTerms data_;
  DataQuestions questions_;
  TermId datum_ = 0;
};

TEST_F(DataTermsTest, SpansKnowBoundsAndAlignment) {
  const Span span = spanOf(data_.terms(), word(255));
  EXPECT_EQ(span.low, 1024u);
  EXPECT_EQ(span.high, 2044u);
  EXPECT_EQ(span.known_bits, 2u);
  EXPECT_TRUE(span.mayMeet(4, 1024, 1));
  EXPECT_TRUE(span.mayMeet(4, 2047, 1));
  EXPECT_FALSE(span.mayMeet(4, 2048, 16));
  EXPECT_FALSE(span.mayMeet(4, 1000, 24));
  EXPECT_FALSE(span.mayMeet(1, 1025, 3)) << "no address but multiples of four";
}

TEST_F(DataTermsTest, QuestionsAreAnsweredWithData) {
  const TermId address = word(255);
  const DataQuestions::Found found = questions_.meets(data_, {address, 0, 0}, {{1032, 1035}});
  ASSERT_EQ(found.answer, Answer::kYes);
  EXPECT_EQ(found.address, 1032u);
  ASSERT_EQ(found.values.size(), 1u);
  EXPECT_EQ(found.values[0].first, datum_);
  EXPECT_EQ(found.values[0].second & 255, 2u);
  EXPECT_EQ(questions_.meets(data_, {address, 0, 0}, {{0, 1023}, {2045, 5000}}).answer, Answer::kNo);
}

TEST_F(DataTermsTest, ConditionsCount) {
  symbolic::Terms& terms = data_.terms();
  const TermId address = word(255);
  const TermId small = terms.less(terms.bitAnd(datum_, number(255)), number(10), false);
  EXPECT_EQ(questions_.meets(data_, {address, small, 0}, {{1064, 4000}}).answer, Answer::kNo);
  EXPECT_EQ(questions_.meets(data_, {address, small, 0}, {{1060, 4000}}).answer, Answer::kYes);
}

TEST_F(DataTermsTest, WhatIsNotFollowedIsUnknown) {
  EXPECT_EQ(questions_.meets(data_, {0, 0, 0}, {{0, 1023}}).answer, Answer::kUnknown);
}

TEST_F(DataTermsTest, BoundsUnderAConditionAreExact) {
  symbolic::Terms& terms = data_.terms();
  const TermId datum = data_.fresh(32, 0);
  const TermId above = terms.less(number(99), datum, false), below = terms.less(datum, number(1000), false);
  const StartRange range = questions_.bounds(data_, terms.multiply(datum, number(4)), terms.bitAnd(above, below));
  EXPECT_EQ(range.first, 400u);
  EXPECT_EQ(range.last, 3996u);
}

TEST_F(DataTermsTest, ThreadsHaveDataOfTheirOwn) {
  const TermId address = word(1);  // 1024 or 1028
  EXPECT_EQ(questions_.overlap(data_, {address, 0, 0}, 4, {address, 0, 1}, 4, 1024, 2048).answer, Answer::kYes);
  const TermId far = data_.terms().add(address, number(8));
  EXPECT_EQ(questions_.overlap(data_, {address, 0, 0}, 4, {far, 0, 1}, 4, 1024, 2048).answer, Answer::kNo);
}

TEST_F(DataTermsTest, InputsOfTheRunAreKept) {
  symbolic::Terms inputs;
  const TermId n = inputs.symbol("n", 32, 0, 1000);
  const TermId here = data_.import(inputs, n, [](TermId) { return std::uint64_t{5}; });
  const TermId address = data_.terms().add(word(0), data_.terms().multiply(here, number(4)));
  EXPECT_EQ(questions_.meets(data_, {address, 0, 0}, {{1044, 1047}}).answer, Answer::kYes);
  const DataQuestions::Found other = questions_.meets(data_, {address, 0, 0}, {{1048, 1051}});
  EXPECT_EQ(other.answer, Answer::kUnknown);
  EXPECT_TRUE(other.needs_other_inputs);
  EXPECT_EQ(questions_.meets(data_, {address, 0, 0}, {{0, 1023}}).answer, Answer::kNo) << "for no input";
}

TEST_F(DataTermsTest, ShapesDoNotDependOnWhichDatumItIs) {
  const TermId one = word(255), two = word(255), other = word(127);
  EXPECT_EQ(ShapeHasher(data_)(one), ShapeHasher(data_)(two));
  EXPECT_NE(ShapeHasher(data_)(one), ShapeHasher(data_)(other));
  ShapeHasher same(data_), different(data_);
  same(one), different(one);
  EXPECT_NE(same(one), different(two)) << "the same datum twice is not two";
}

}  // namespace
}  // namespace handoff::machine
