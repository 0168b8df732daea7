// SPDX-License-Identifier: Apache-2.0
#include "analyzer/symbolic/solver.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace handoff::symbolic {
namespace {

class SolverTest : public ::testing::Test {
 protected:
  TermId number(std::uint64_t value) { return terms.constant(value, 32); }

  Terms terms;
  TermId k = terms.symbol("K", 32, 0, 0x7fffffff);
  TermId t = terms.symbol("t", 32, 0, 1u << 24);
  Solver solver{terms, 2000};
};

TEST_F(SolverTest, FindsTheSizeOfThreeTiles) {
  const TermId tiles = terms.divide(terms.add(k, number(31)), number(32), true);
  solver.assume(terms.equal(tiles, number(3)));
  ASSERT_EQ(solver.isFeasible(), Solver::Answer::kYes);
  const std::uint64_t found = solver.model()[0];
  EXPECT_GT(found, 64u);
  EXPECT_LE(found, 96u);
}

TEST_F(SolverTest, KeepsToTheBoundsOfASymbol) {
  solver.assume(terms.less(t, number((1u << 24) + 1), false), false);
  EXPECT_EQ(solver.isFeasible(), Solver::Answer::kNo);
}

TEST_F(SolverTest, AssumptionsAreAStack) {
  solver.push();
  solver.assume(terms.equal(k, number(4)));
  solver.push();
  solver.assume(terms.equal(k, number(5)));
  EXPECT_EQ(solver.isFeasible(), Solver::Answer::kNo);
  solver.pop();
  ASSERT_EQ(solver.isFeasible(), Solver::Answer::kYes);
  EXPECT_EQ(solver.model()[0], 4u);
  solver.pop();
}

TEST_F(SolverTest, TriesAllChoicesWhereFewAreLeft) {
  const TermId x = terms.symbol("x", 32, 0, 3), y = terms.symbol("y", 32, 1, 2);
  const TermId sum = terms.add(x, terms.multiply(y, terms.add(x, number(2))));  // x + y (x + 2)
  const auto isFeasible = [&](std::uint64_t value) {
    const Solver::Scope scope(solver);
    solver.assume(terms.equal(sum, number(value)));
    const Solver::Answer answer = solver.isFeasible();
    if (answer == Solver::Answer::kYes) {
      EXPECT_EQ(terms.evaluate(sum, 0, solver.model()), value);
    }
    return answer;
  };
  EXPECT_EQ(isFeasible(13), Solver::Answer::kYes);  // only 3 + 2 * 5
  EXPECT_EQ(isFeasible(9), Solver::Answer::kNo);
  solver.assume(terms.less(x, number(3), false));
  EXPECT_EQ(isFeasible(13), Solver::Answer::kNo);
  EXPECT_EQ(isFeasible(10), Solver::Answer::kYes);  // 2 + 2 * 4
  solver.assume(terms.less(x, k, false));  // k has too many values to be tried
  EXPECT_EQ(isFeasible(10), Solver::Answer::kYes);
  solver.assume(terms.less(k, number(3), true));
  EXPECT_EQ(isFeasible(10), Solver::Answer::kNo);
}

TEST_F(SolverTest, ALongerLoopExitsLikeAShorterOne) {
  // i = 3 + 4t < K exactly when 3 < K - 4t, once the turns before have gone on: 3 + 4(t-1) < K.
  const auto counter = [&](TermId turns) { return terms.add(number(3), terms.multiply(turns, number(4))); };
  solver.assume(terms.less(number(0), t, false));
  solver.assume(terms.less(counter(terms.subtract(t, number(1))), k, true));
  solver.assume(terms.less(counter(t), number(0x70000000), false));
  const TermId shorter = terms.subtract(k, terms.multiply(t, number(4)));
  const TermId same = terms.equal(terms.less(counter(t), k, true), terms.less(number(3), shorter, true));
  EXPECT_EQ(solver.follows(same), Solver::Answer::kYes);
  const TermId wrong = terms.equal(terms.less(counter(t), k, true), terms.less(number(4), shorter, true));
  EXPECT_EQ(solver.follows(wrong), Solver::Answer::kNo);
}

// Too many choices to be tried, few enough to be tried here: the parts and alternatives of an assumption have to say the
// same as all of it.
TEST(Solver, AnswersAsATrialOfAllValuesDoes) {
  constexpr std::uint64_t kValues = 24;
  std::mt19937 random(5);
  unsigned yes = 0, no = 0;
  for (unsigned seed = 0; seed < 150; ++seed) {
    Terms terms;
    const TermId x = terms.symbol("x", 32, 0, kValues - 1), y = terms.symbol("y", 32, 0, kValues - 1);
    const auto number = [&](std::uint64_t value) { return terms.constant(value, 32); };
    const auto sum = [&] {
      const TermId scaled = terms.multiply(random() % 2 != 0 ? x : y, random() % 3 != 0 ? number(1 + random() % 9) : random() % 2 != 0 ? x : y);
      return terms.add(terms.add(scaled, random() % 2 != 0 ? x : y), number(random() % 40));
    };
    const auto predicate = [&] {
      const TermId a = sum(), b = random() % 2 != 0 ? sum() : number(random() % 300);
      const TermId one = random() % 3 == 0 ? terms.equal(a, b) : terms.less(a, b, random() % 2 != 0);
      return random() % 2 != 0 ? one : terms.bitNot(one);
    };
    const auto many = [&](bool all) {
      TermId joined = terms.constant(all ? 1 : 0, 1);
      for (unsigned i = 0; i < 10; ++i) {
        const TermId inner = random() % 2 != 0 ? predicate() : all ? terms.bitOr(predicate(), predicate()) : terms.bitAnd(predicate(), predicate());
        joined = all ? terms.bitAnd(joined, inner) : terms.bitOr(joined, inner);
      }
      return joined;
    };
    Solver solver(terms, 5000);
    std::vector<Assumption> assumed;
    for (unsigned i = 0; i < 3; ++i) {
      assumed.push_back({random() % 3 == 0 ? many(random() % 2 != 0) : predicate(), random() % 4 != 0});
      solver.assume(assumed.back().predicate, assumed.back().holds);
      bool is_feasible = false;
      for (std::uint64_t at = 0; at < kValues * kValues && !is_feasible; ++at) {
        Valuation values(terms, {at % kValues, at / kValues});
        is_feasible = std::all_of(assumed.begin(), assumed.end(), [&](const Assumption& a) { return (values(a.predicate) != 0) == a.holds; });
      }
      ASSERT_EQ(solver.isFeasible(), is_feasible ? Answer::kYes : Answer::kNo) << "seed " << seed << ", " << i;
      ++(is_feasible ? yes : no);
      if (!is_feasible) continue;
      Valuation found(terms, solver.model());
      for (const Assumption& a : assumed) ASSERT_EQ(found(a.predicate) != 0, a.holds) << "seed " << seed << ", " << i;
    }
  }
  EXPECT_GT(yes, 50u);
  EXPECT_GT(no, 50u);
}

}  // namespace
}  // namespace handoff::symbolic
