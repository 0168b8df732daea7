// SPDX-License-Identifier: Apache-2.0
// What lanes know of each other.
#include "analyzer/machine/clock.h"

#include <gtest/gtest.h>

namespace handoff::machine {
namespace {

TEST(Clock, FreshClockKnowsNothing) {
  const Clock clock;
  EXPECT_EQ(clock.at(0), 0u);
  EXPECT_EQ(clock.at(1000), 0u);
}

TEST(Clock, RaisingNeverLowers) {
  Clock clock;
  clock.raise(3, 5);
  clock.raise(3, 2);
  EXPECT_EQ(clock.at(3), 5u);
}

TEST(Clock, JoinIsTheMaximumOfBoth) {
  Clock a, b;
  a.raise(0, 4);
  b.raise(0, 2);
  b.raise(7, 1);
  a.join(b);
  EXPECT_EQ(a.at(0), 4u);
  EXPECT_EQ(a.at(7), 1u);
}

TEST(Clock, CoversAsksEveryComponent) {
  Clock a, b;
  a.raise(0, 4);
  b.raise(0, 3);
  EXPECT_TRUE(a.covers(b));
  b.raise(9, 1);
  EXPECT_FALSE(a.covers(b));
  EXPECT_FALSE(b.covers(a));
}

TEST(Clock, CoversWarpLooksAtTheGivenLanesOnly) {
  Clock clock;
  for (unsigned lane = 0; lane < kWarpSize; ++lane) clock.raise(32 + lane, lane == 5 ? 1 : 2);
  EXPECT_FALSE(clock.coversWarp(32, kAllLanes, 2));
  EXPECT_TRUE(clock.coversWarp(32, ~laneBit(5), 2));
  EXPECT_TRUE(clock.coversWarp(32, kAllLanes, 1));
  EXPECT_FALSE(clock.coversWarp(64, laneBit(0), 1)) << "a warp that the clock has never heard of";
}

TEST(WarpClock, LaneKnowsItsOwnPastAndNoOther) {
  const WarpClock clock(32);
  EXPECT_TRUE(clock.knows(3, 35, 1));
  EXPECT_FALSE(clock.knows(3, 36, 1)) << "not even a lane of the same warp";
  EXPECT_FALSE(clock.knows(3, 0, 1));
}

TEST(WarpClock, PublishingAdvancesTheEpoch) {
  WarpClock clock(0);
  const Epoch before = clock.epoch();
  Clock target;
  clock.publish(laneBit(4), target);
  EXPECT_EQ(target.at(4), before);
  EXPECT_EQ(target.at(5), 0u) << "only the publishing lane";
  EXPECT_EQ(clock.epoch(), before + 1);
}

TEST(WarpClock, EventsAfterPublishingAreNotPublished) {
  WarpClock producer(0), consumer(32);
  Clock barrier;
  producer.publish(laneBit(0), barrier);
  const Epoch later = producer.epoch();
  consumer.learn(laneBit(0), barrier);
  EXPECT_TRUE(consumer.knows(0, 0, later - 1));
  EXPECT_FALSE(consumer.knows(0, 0, later));
}

TEST(WarpClock, EpochOfAnotherLaneInTheSameWarpIsNotKnown) {
  // One epoch counter a warp: lane 1 acts in the epoch in which lane 0 publishes, and stays unknown.
  WarpClock warp(0), other(32);
  const Epoch epoch = warp.epoch();
  Clock target;
  warp.publish(laneBit(0), target);
  other.learn(kAllLanes, target);
  EXPECT_TRUE(other.knows(9, 0, epoch));
  EXPECT_FALSE(other.knows(9, 1, epoch));
}

TEST(WarpClock, LearningIsForTheGivenLanes) {
  WarpClock producer(0), consumer(32);
  Clock target;
  producer.publish(kAllLanes, target);
  consumer.learn(laneBit(2), target);
  EXPECT_TRUE(consumer.knows(2, 17, 1));
  EXPECT_FALSE(consumer.knows(3, 17, 1));
}

TEST(WarpClock, KnowledgeIsPassedOn) {
  WarpClock a(0), b(32), c(64);
  Clock first, second;
  a.publish(laneBit(0), first);
  b.learn(laneBit(0), first);
  b.publish(laneBit(0), second);
  c.learn(laneBit(0), second);
  EXPECT_TRUE(c.knows(0, 0, 1));
}

TEST(WarpClock, ExchangeOrdersTheLanesOfTheMaskOnly) {
  WarpClock clock(0);
  clock.exchange(0xff);
  EXPECT_TRUE(clock.knows(0, 7, 1));
  EXPECT_TRUE(clock.knows(7, 0, 1));
  EXPECT_FALSE(clock.knows(0, 8, 1));
  EXPECT_FALSE(clock.knows(8, 0, 1));
}

TEST(WarpClock, ExchangeCoversThePastAndNotTheFuture) {
  WarpClock clock(0);
  clock.exchange(kAllLanes);
  EXPECT_TRUE(clock.knows(1, 0, clock.epoch() - 1));
  EXPECT_FALSE(clock.knows(1, 0, clock.epoch()));
}

TEST(WarpClock, LanesThatLearnTogetherShareOneClock) {
  WarpClock clock(0);
  EXPECT_TRUE(clock.isShared(kAllLanes));
  Clock source;
  source.raise(64, 1);
  clock.learn(kAllLanes, source);
  EXPECT_TRUE(clock.isShared(kAllLanes));
  clock.learn(laneBit(0), 65, 1);
  EXPECT_FALSE(clock.isShared(kAllLanes));
  EXPECT_TRUE(clock.isShared(~laneBit(0)));
}

TEST(WarpClock, LearningDoesNotChangeClocksThatOthersHold) {
  WarpClock clock(0);
  Clock source;
  source.raise(64, 1);
  clock.learn(0x0f, source);
  EXPECT_EQ(clock.of(0).at(64), 1u);
  EXPECT_EQ(clock.of(4).at(64), 0u);
}

TEST(WarpClock, AdoptedClockReplacesTheOld) {
  WarpClock clock(0);
  auto barrier = std::make_shared<Clock>();
  clock.publish(kAllLanes, *barrier);
  barrier->raise(40, 3);
  clock.adopt(kAllLanes, barrier);
  EXPECT_TRUE(clock.knows(0, 31, 1));
  EXPECT_TRUE(clock.knows(0, 40, 3));
}

}  // namespace
}  // namespace handoff::machine
