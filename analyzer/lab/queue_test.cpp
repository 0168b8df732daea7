// SPDX-License-Identifier: Apache-2.0
#include "analyzer/lab/queue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace handoff::lab {
namespace {

double backlogAfter(Rates rates, int steps) {
  Queue queue(rates);
  for (int i = 0; i < steps; ++i) queue.step();
  return queue.backlog();
}

TEST(Queue, StartsWithFour) {
  const Queue queue({3, 2});
  EXPECT_EQ(queue.backlog(), 4);
  EXPECT_EQ(queue.seconds(), 0);
}

TEST(Queue, GrowsWhereMoreArrivesThanIsServed) {
  EXPECT_EQ(backlogAfter({3, 2}, 1), 4.5);
  EXPECT_EQ(backlogAfter({3, 2}, 2), 5);
}

TEST(Queue, ShrinksWhereMoreIsServed) {
  EXPECT_EQ(backlogAfter({3, 4}, 1), 3.5);
  EXPECT_EQ(backlogAfter({3, 4}, 2), 3);
}

TEST(Queue, StaysWhereRatesAreEqual) { EXPECT_EQ(backlogAfter({7, 7}, 9), 4); }

TEST(Queue, NeverHasLessThanNothing) {
  EXPECT_EQ(backlogAfter({0, 100}, 1), 0);
  EXPECT_EQ(backlogAfter({1, 3}, 4), 0);
  EXPECT_EQ(backlogAfter({1, 3}, 5), 0);
}

TEST(Queue, StepIsHalfASecond) {
  Queue queue({3, 2});
  queue.step();
  EXPECT_EQ(queue.seconds(), 0.5);
  queue.step();
  EXPECT_EQ(queue.seconds(), 1.0);
}

TEST(Queue, TableHasTheResetAndEachStep) {
  EXPECT_THAT(queueTable({3, 2}, 2),
              testing::ElementsAre("t = 0.0 s   backlog 4", "t = 0.5 s   backlog 4.5", "t = 1.0 s   backlog 5"));
}

TEST(Queue, AmountsHaveNoZerosAtTheEnd) {
  EXPECT_EQ(amountText(5), "5");
  EXPECT_EQ(amountText(4.5), "4.5");
  EXPECT_EQ(amountText(10), "10");
  EXPECT_EQ(amountText(1.0 / 3), "0.333");
}

}  // namespace
}  // namespace handoff::lab
