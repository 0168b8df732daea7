// SPDX-License-Identifier: Apache-2.0
// Phase accounting of mbarrier objects.
#include "analyzer/machine/mbarrier.h"

#include <gtest/gtest.h>

namespace handoff::machine {
namespace {

MbarrierObject initialised(std::uint32_t count) {
  MbarrierObject object(64);
  object.init(count, 1);
  return object;
}

TEST(Mbarrier, FreshObjectIsNotLive) { EXPECT_FALSE(MbarrierObject(64).isLive()); }

TEST(Mbarrier, FreshBarrierIsInPhaseZeroWithTheOneBeforeComplete) {
  const MbarrierObject object = initialised(1);
  EXPECT_FALSE(object.isParityComplete(0));
  EXPECT_TRUE(object.isParityComplete(1));
}

TEST(Mbarrier, ArrivalBelowTheCountDoesNotTurnThePhase) {
  MbarrierObject object = initialised(2);
  EXPECT_FALSE(object.arrive(1, 2));
  EXPECT_EQ(object.phase(), 0u);
  EXPECT_EQ(object.pending(), 1u);
}

TEST(Mbarrier, LastArrivalTurnsThePhaseAndRestoresTheCount) {
  MbarrierObject object = initialised(2);
  object.arrive(1, 2);
  EXPECT_TRUE(object.arrive(1, 3));
  EXPECT_EQ(object.phase(), 1u);
  EXPECT_EQ(object.pending(), 2u);
  EXPECT_TRUE(object.isParityComplete(0));
  EXPECT_FALSE(object.isParityComplete(1));
  EXPECT_TRUE(object.eventsOfPhase().empty());
}

TEST(Mbarrier, ArrivalWithACountCountsThatOften) {
  MbarrierObject object = initialised(3);
  EXPECT_TRUE(object.arrive(3, 2));
}

TEST(Mbarrier, PendingBytesKeepThePhaseOpen) {
  MbarrierObject object = initialised(1);
  object.expect(128, 2);
  EXPECT_FALSE(object.arrive(1, 3));
  object.complete(64, 4);
  EXPECT_EQ(object.phase(), 0u);
  object.complete(64, 5);
  EXPECT_EQ(object.phase(), 1u);
  EXPECT_EQ(object.transactions(), 0);
}

TEST(Mbarrier, BytesMayCompleteBeforeTheyAreExpected) {
  MbarrierObject object = initialised(1);
  object.complete(16, 2);
  EXPECT_EQ(object.transactions(), -16);
  object.expect(16, 3);
  EXPECT_TRUE(object.arrive(1, 4));
}

TEST(Mbarrier, ExpectByItselfNeverCompletesThePhase) {
  MbarrierObject object = initialised(1);
  object.complete(16, 2);
  EXPECT_FALSE(object.arrive(1, 3));
  object.expect(16, 4);
  EXPECT_EQ(object.phase(), 0u) << "the manual gives expect_tx no completion check";
}

TEST(Mbarrier, UnderflowIsSeenBeforeTheArrival) {
  MbarrierObject object = initialised(1);
  EXPECT_FALSE(object.wouldUnderflow(1));
  EXPECT_TRUE(object.wouldUnderflow(2));
}

TEST(Mbarrier, DroppedArrivalsLowerTheLaterPhases) {
  MbarrierObject object = initialised(3);
  object.dropExpected(1);
  object.arrive(1, 2);
  EXPECT_EQ(object.pending(), 2u) << "this phase still counts the one that leaves";
  EXPECT_TRUE(object.arrive(2, 3));
  EXPECT_EQ(object.pending(), 2u);
}

TEST(Mbarrier, CopyArrivalWithoutNoincIsNetZero) {
  MbarrierObject object = initialised(2);
  object.raisePending();
  EXPECT_FALSE(object.arrive(1, 2));
  EXPECT_EQ(object.pending(), 2u);
}

TEST(Mbarrier, SecondLifeStartsAtParityZeroWithAPhaseOfItsOwn) {
  MbarrierObject object = initialised(1);
  object.arrive(1, 2);
  object.invalidate();
  EXPECT_FALSE(object.isLive());
  const Phase before = object.phase();
  object.init(4, 3);
  EXPECT_TRUE(object.isLive());
  EXPECT_GT(object.phase(), before);
  EXPECT_EQ(object.parity(), 0u);
  EXPECT_FALSE(object.isParityComplete(0));
  EXPECT_EQ(object.pending(), 4u);
}

TEST(Mbarrier, CompletedClockHoldsArrivalsOfThatPhaseAndItsNumber) {
  MbarrierObject object = initialised(1);
  object.openClock().raise(5, 3);
  object.arrive(1, 2);
  EXPECT_EQ(object.completedClock().at(5), 3u);
  EXPECT_EQ(object.completedClock().at(64), 1u);
  EXPECT_EQ(object.openClock().at(5), 0u);
}

TEST(Mbarrier, IdleMeansNothingIsOutstanding) {
  MbarrierObject object = initialised(2);
  EXPECT_TRUE(object.isIdle());
  object.arrive(1, 2);
  EXPECT_FALSE(object.isIdle());
}

}  // namespace
}  // namespace handoff::machine
