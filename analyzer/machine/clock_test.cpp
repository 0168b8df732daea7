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

// --- views ---

TEST(ClockViews, AreKeptApart) {
  Clock clock;
  clock.raise(View::kFencedShared, 3, 5);
  EXPECT_EQ(clock.at(View::kFencedShared, 3), 5u);
  EXPECT_EQ(clock.at(View::kFencedGlobal, 3), 0u);
  EXPECT_EQ(clock.at(3), 0u);
  EXPECT_EQ(clock.atTime(3), 0u) << "a fence alone orders nothing";
}

TEST(ClockViews, OrderIsPastAndPastIsTime) {
  Clock clock;
  clock.raise(1, 4);
  clock.raise(View::kPast, 2, 5);
  clock.raise(View::kTime, 3, 6);
  EXPECT_EQ(clock.atPast(1), 4u);
  EXPECT_EQ(clock.atTime(1), 4u);
  EXPECT_EQ(clock.at(2), 0u);
  EXPECT_EQ(clock.atPast(2), 5u);
  EXPECT_EQ(clock.atTime(2), 5u);
  EXPECT_EQ(clock.atPast(3), 0u);
  EXPECT_EQ(clock.atTime(3), 6u);
}

TEST(ClockViews, UnusedOnesStayEmpty) {
  Clock a, b;
  a.raise(7, 1);
  b.join(a);
  b.joinTime(a);
  for (const View view :
       {View::kPast, View::kFencedShared, View::kFencedGlobal, View::kReturned, View::kConverged})
    EXPECT_TRUE(b.isEmpty(view)) << static_cast<int>(view);
  EXPECT_FALSE(b.isEmpty(View::kOrder));
  EXPECT_FALSE(b.isEmpty(View::kTime));
}

TEST(ClockViews, JoinTakesEachViewForItself) {
  Clock a, b;
  a.raise(View::kTime, 0, 2);
  a.raise(View::kReturned, 1, 3);
  b.raise(View::kTime, 0, 5);
  b.join(a);
  EXPECT_EQ(b.atTime(0), 5u);
  EXPECT_EQ(b.at(View::kReturned, 1), 3u);
  EXPECT_EQ(b.at(0), 0u);
}

TEST(ClockViews, JoinPastTurnsOrderIntoPast) {
  Clock source, target;
  source.raise(0, 4);
  source.raise(View::kPast, 1, 5);
  source.raise(View::kTime, 2, 6);
  target.joinPast(source);
  EXPECT_EQ(target.at(0), 0u);
  EXPECT_EQ(target.atPast(0), 4u);
  EXPECT_EQ(target.atPast(1), 5u);
  EXPECT_EQ(target.atPast(2), 0u) << "what was no more than executed does not become past";
  EXPECT_EQ(target.atTime(2), 6u);
}

TEST(ClockViews, JoinTimeTurnsOrderAndPastIntoTime) {
  Clock source, target;
  source.raise(0, 4);
  source.raise(View::kPast, 1, 5);
  source.raise(View::kTime, 2, 6);
  source.raise(View::kFencedShared, 3, 7);
  target.joinTime(source);
  EXPECT_EQ(target.atPast(0), 0u);
  EXPECT_EQ(target.atPast(1), 0u);
  EXPECT_EQ(target.atTime(0), 4u);
  EXPECT_EQ(target.atTime(1), 5u);
  EXPECT_EQ(target.atTime(2), 6u);
  EXPECT_EQ(target.at(View::kFencedShared, 3), 0u) << "an execution edge carries no fence";
}

TEST(ClockViews, FenceTakesOrderAndPastButNotTime) {
  Clock clock;
  clock.raise(0, 4);
  clock.raise(View::kPast, 1, 5);
  clock.raise(View::kTime, 2, 6);
  clock.fence(View::kFencedShared);
  EXPECT_EQ(clock.at(View::kFencedShared, 0), 4u);
  EXPECT_EQ(clock.at(View::kFencedShared, 1), 5u);
  EXPECT_EQ(clock.at(View::kFencedShared, 2), 0u);
  EXPECT_EQ(clock.at(View::kFencedGlobal, 0), 0u) << "the other space has no fence";
}

TEST(ClockViews, CoversComparesEveryView) {
  Clock a, b;
  a.raise(0, 4);
  b.raise(0, 4);
  EXPECT_TRUE(a.covers(b));
  b.raise(View::kFencedGlobal, 0, 4);
  EXPECT_FALSE(a.covers(b));
  EXPECT_TRUE(b.covers(a));
}

TEST(ClockViews, WarpIsReachedByTheTimeOfOneLane) {
  Clock clock;
  EXPECT_FALSE(clock.reachesWarp(32, 1));
  clock.raise(View::kTime, 32 + 31, 3);
  EXPECT_TRUE(clock.reachesWarp(32, 3));
  EXPECT_FALSE(clock.reachesWarp(32, 4));
  EXPECT_FALSE(clock.reachesWarp(64, 1)) << "the next warp";
}

TEST(WarpClockViews, PublishedPastIsOverButNotVisible) {
  WarpClock producer(0), consumer(32);
  Clock target;
  const Epoch epoch = producer.epoch();
  producer.publishPast(laneBit(4), target);
  EXPECT_EQ(producer.epoch(), epoch + 1);
  consumer.learn(kAllLanes, target);
  EXPECT_FALSE(consumer.knows(0, 4, epoch));
  EXPECT_TRUE(consumer.knows(View::kPast, 0, 4, epoch));
  EXPECT_TRUE(consumer.knows(View::kTime, 0, 4, epoch));
  EXPECT_FALSE(consumer.knows(View::kPast, 0, 5, epoch)) << "only the publishing lane";
  EXPECT_FALSE(consumer.knows(View::kPast, 0, 4, epoch + 1)) << "not what comes after";
}

TEST(WarpClockViews, PublishedPastIncludesWhatTheLaneKnew) {
  WarpClock a(0), b(32), c(64);
  Clock first, second;
  a.publish(laneBit(0), first);
  b.learn(laneBit(0), first);
  b.publishPast(laneBit(0), second);
  c.learn(laneBit(0), second);
  EXPECT_FALSE(c.knows(0, 0, 1));
  EXPECT_TRUE(c.knows(View::kPast, 0, 0, 1));
}

TEST(WarpClockViews, PublishedTimeIsNotEvenPast) {
  WarpClock producer(0), consumer(32);
  Clock target;
  const Epoch epoch = producer.epoch();
  producer.publishTime(laneBit(4), target);
  EXPECT_EQ(producer.epoch(), epoch + 1);
  consumer.learn(kAllLanes, target);
  EXPECT_FALSE(consumer.knows(0, 4, epoch));
  EXPECT_FALSE(consumer.knows(View::kPast, 0, 4, epoch));
  EXPECT_TRUE(consumer.knows(View::kTime, 0, 4, epoch));
}

TEST(WarpClockViews, LearningPastOrTimeTakesTheRestAway) {
  WarpClock producer(0), past(32), time(64);
  Clock target;
  producer.publish(kAllLanes, target);
  past.learnPast(laneBit(1), target);
  time.learnTime(laneBit(1), target);
  EXPECT_FALSE(past.knows(1, 0, 1));
  EXPECT_TRUE(past.knows(View::kPast, 1, 0, 1));
  EXPECT_FALSE(past.knows(View::kTime, 2, 0, 1)) << "for the given lanes only";
  EXPECT_FALSE(time.knows(View::kPast, 1, 0, 1));
  EXPECT_TRUE(time.knows(View::kTime, 1, 0, 1));
}

TEST(WarpClockViews, OwnEventsAreOrderedButNotFenced) {
  const WarpClock clock(32);
  for (const View view : {View::kOrder, View::kPast, View::kTime}) EXPECT_TRUE(clock.knows(view, 3, 35, 1));
  for (const View view : {View::kFencedShared, View::kFencedGlobal, View::kReturned, View::kConverged})
    EXPECT_FALSE(clock.knows(view, 3, 35, 1));
}

TEST(WarpClockViews, FenceCoversTheOwnPastAndNotTheFuture) {
  WarpClock clock(0);
  const Epoch before = clock.epoch();
  clock.fence(laneBit(2), View::kFencedShared);
  EXPECT_TRUE(clock.knows(View::kFencedShared, 2, 2, before));
  EXPECT_FALSE(clock.knows(View::kFencedShared, 2, 2, clock.epoch())) << "a write after the fence";
  EXPECT_FALSE(clock.knows(View::kFencedShared, 3, 3, before)) << "a lane that executes no fence";
  EXPECT_FALSE(clock.knows(View::kFencedGlobal, 2, 2, before));
}

TEST(WarpClockViews, FenceOfTheWriterTravelsWithItsRelease) {
  WarpClock writer(0), issuer(32);
  Clock barrier;
  writer.fence(laneBit(0), View::kFencedShared);
  writer.publish(kAllLanes, barrier);
  issuer.learn(laneBit(0), barrier);
  EXPECT_TRUE(issuer.knows(View::kFencedShared, 0, 0, 1));
  EXPECT_FALSE(issuer.knows(View::kFencedShared, 0, 1, 1)) << "lane 1 wrote without a fence";
}

TEST(WarpClockViews, FenceOfTheIssuerCoversAllThatItHasAcquired) {
  WarpClock writer(0), issuer(32);
  Clock barrier;
  writer.publish(kAllLanes, barrier);
  issuer.fence(laneBit(0), View::kFencedShared);
  issuer.learn(laneBit(0), barrier);
  EXPECT_FALSE(issuer.knows(View::kFencedShared, 0, 1, 1)) << "before the acquire it covers nothing of it";
  issuer.fence(laneBit(0), View::kFencedShared);
  EXPECT_TRUE(issuer.knows(View::kFencedShared, 0, 1, 1));
}

TEST(WarpClockViews, SettledLoadsAreThoseUpToNow) {
  WarpClock clock(0);
  const Epoch before = clock.epoch();
  clock.settleLoads(0x3, View::kReturned);
  EXPECT_TRUE(clock.knows(View::kReturned, 0, 0, before));
  EXPECT_TRUE(clock.knows(View::kReturned, 1, 1, before));
  EXPECT_FALSE(clock.knows(View::kReturned, 2, 2, before));
  EXPECT_FALSE(clock.knows(View::kReturned, 0, 0, clock.epoch())) << "a load after it";
  EXPECT_FALSE(clock.knows(View::kConverged, 0, 0, before));
  EXPECT_FALSE(clock.knows(View::kFencedShared, 0, 0, before));
}

TEST(WarpClockViews, ConvergedLoadsAreThoseOfAllLanesThatTookPart) {
  WarpClock clock(0);
  clock.settleLoads(kAllLanes, View::kConverged);
  EXPECT_TRUE(clock.knows(View::kConverged, 0, 31, 1));
  EXPECT_FALSE(clock.knows(0, 31, 1)) << "which is no causality order";
}

TEST(WarpClockViews, LanesThatDoTheSameKeepSharing) {
  WarpClock clock(0);
  clock.fence(kAllLanes, View::kFencedShared);
  clock.settleLoads(kAllLanes, View::kReturned);
  EXPECT_TRUE(clock.isShared(kAllLanes));
  clock.fence(laneBit(0), View::kFencedGlobal);
  EXPECT_TRUE(clock.isShared(~laneBit(0)));
  EXPECT_FALSE(clock.isShared(kAllLanes));
}

}  // namespace
}  // namespace handoff::machine
