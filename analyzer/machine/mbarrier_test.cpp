// SPDX-License-Identifier: Apache-2.0
// Phase accounting of mbarrier objects.
#include "analyzer/machine/mbarrier.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace handoff::machine {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

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

TEST(Mbarrier, RemoteArrivalsHaveAClockOfTheirOwn) {
  MbarrierObject object = initialised(1);
  object.openRemoteClock().raise(5, 3);
  object.arrive(1, 2);
  EXPECT_EQ(object.completedRemoteClock().at(5), 3u);
  EXPECT_EQ(object.completedClock().at(5), 0u);
  EXPECT_EQ(object.openRemoteClock().at(5), 0u);
}

TEST(Mbarrier, SecondLifeForgetsClocksOfTheFirst) {
  MbarrierObject object = initialised(2);
  object.openClock().raise(5, 3);
  object.openRemoteClock().raise(6, 3);
  object.init(1, 2);
  object.arrive(1, 3);
  EXPECT_EQ(object.completedClock().at(5), 0u);
  EXPECT_EQ(object.completedRemoteClock().at(6), 0u);
  EXPECT_EQ(object.lives(), 2u);
}

// --- bytes by the phase that is meant ---

TEST(MbarrierBytes, BalancedPhaseLeavesTheLedgerWhenItCompletes) {
  MbarrierObject object = initialised(1);
  object.bytesOf(0).expected += 64;
  object.bytesOf(0).delivered += 64;
  EXPECT_EQ(object.bytes().size(), 1u);
  object.arrive(1, 2);
  EXPECT_THAT(object.bytes(), IsEmpty());
}

TEST(MbarrierBytes, UnbalancedPhaseStays) {
  MbarrierObject object = initialised(1);
  object.bytesOf(0).delivered += 64;
  object.arrive(1, 2);
  ASSERT_EQ(object.bytes().size(), 1u);
  EXPECT_EQ(object.bytes().at(0).delivered, 64);
  EXPECT_EQ(object.bytes().at(0).expected, 0);
}

TEST(MbarrierBytes, PhasesAreCountedApart) {
  MbarrierObject object = initialised(1);
  object.bytesOf(0).expected = 16;
  object.bytesOf(1).expected = 32;
  EXPECT_EQ(object.bytes().at(0).expected, 16);
  EXPECT_EQ(object.bytes().at(1).expected, 32);
}

// --- waiters that a phase leaves behind ---

TEST(MbarrierWaiters, NextPhaseThatNobodyHoldsBackLapsTheWaiter) {
  MbarrierObject object = initialised(1);
  object.arrive(1, 2);
  object.noteWaiter({.warp = 3, .phase = 0, .epoch = 5, .event = 7});
  EXPECT_THAT(object.takeLapped(), IsEmpty());
  object.arrive(1, 3);
  const auto lapped = object.takeLapped();
  ASSERT_EQ(lapped.size(), 1u);
  EXPECT_EQ(lapped[0].event, 7u);
  EXPECT_THAT(object.takeLapped(), IsEmpty()) << "told once";
}

TEST(MbarrierWaiters, ArrivalThatKnowsTheWaiterToBePastHoldsThePhaseBack) {
  for (const View view : {View::kOrder, View::kPast, View::kTime}) {
    MbarrierObject object = initialised(1);
    object.arrive(1, 2);
    object.noteWaiter({.warp = 3, .phase = 0, .epoch = 5, .event = 7});
    object.openClock().raise(view, 3 * kWarpSize + 9, 5);
    object.arrive(1, 3);
    EXPECT_THAT(object.takeLapped(), IsEmpty()) << static_cast<int>(view);
  }
}

TEST(MbarrierWaiters, RemoteArrivalDoesSo) {
  MbarrierObject object = initialised(1);
  object.arrive(1, 2);
  object.noteWaiter({.warp = 3, .phase = 0, .epoch = 5, .event = 7});
  object.openRemoteClock().raise(3 * kWarpSize, 5);
  object.arrive(1, 3);
  EXPECT_THAT(object.takeLapped(), IsEmpty());
}

TEST(MbarrierWaiters, ArrivalFromBeforeTheWaitDoesNot) {
  MbarrierObject object = initialised(1);
  object.arrive(1, 2);
  object.noteWaiter({.warp = 3, .phase = 0, .epoch = 5, .event = 7});
  object.openClock().raise(3 * kWarpSize, 4);
  object.arrive(1, 3);
  EXPECT_EQ(object.takeLapped().size(), 1u);
}

TEST(MbarrierWaiters, WaiterOfThePhaseJustCompletedIsNotLapped) {
  MbarrierObject object = initialised(1);
  object.arrive(1, 2);
  object.arrive(1, 3);
  object.noteWaiter({.warp = 3, .phase = 1, .epoch = 5, .event = 7});
  EXPECT_THAT(object.takeLapped(), IsEmpty());
}

TEST(MbarrierWaiters, LastWaitOfAWarpForAPhaseCounts) {
  // Whoever asks for the phase again must not be overtaken either.
  MbarrierObject object = initialised(1);
  object.arrive(1, 2);
  object.noteWaiter({.warp = 3, .phase = 0, .epoch = 5, .event = 7});
  object.noteWaiter({.warp = 3, .phase = 0, .epoch = 9, .event = 8});
  object.openClock().raise(3 * kWarpSize, 5);
  object.arrive(1, 3);
  EXPECT_EQ(object.takeLapped().size(), 1u);
}

TEST(MbarrierWaiters, ArriversOfTheLastCompletedPhaseAreKnown) {
  MbarrierObject object = initialised(2);
  object.noteArriver(3, 5);
  object.arrive(1, 2);
  EXPECT_THAT(object.completedArrivers(), IsEmpty());
  object.noteArriver(4, 6);
  object.arrive(1, 3);
  ASSERT_EQ(object.completedArrivers().size(), 2u);
  EXPECT_EQ(object.completedArrivers()[1].warp, 4u);
  EXPECT_EQ(object.completedArrivers()[1].epoch, 6u);
}

TEST(MbarrierWaiters, PhaseThatWaitsForBytesIsNotKnownByItsArrivers) {
  MbarrierObject object = initialised(1);
  object.noteArriver(3, 5);
  object.expect(16, 2);
  object.arrive(1, 2);
  object.complete(16, 3);
  EXPECT_THAT(object.completedArrivers(), IsEmpty());
  object.noteArriver(3, 7);
  object.arrive(1, 4);
  EXPECT_EQ(object.completedArrivers().size(), 1u) << "the next phase has no bytes";
}

// --- expected bytes after the last arrival ---

TEST(MbarrierExpects, ArrivalThatKnowsTheExpectSettlesIt) {
  MbarrierObject object = initialised(1);
  object.notePendingExpect({.warp = 0, .lane = 2, .epoch = 4, .event = 9});
  object.settleExpects([](const MbarrierObject::PendingExpect& expect) { return expect.lane == 2; });
  object.arrive(1, 3);
  EXPECT_THAT(object.takeLateExpects(), IsEmpty());
}

TEST(MbarrierExpects, PhaseThatCompletesWithoutItMakesItLate) {
  MbarrierObject object = initialised(1);
  object.notePendingExpect({.warp = 0, .lane = 2, .epoch = 4, .event = 9});
  object.settleExpects([](const MbarrierObject::PendingExpect&) { return false; });
  object.arrive(1, 3);
  EXPECT_THAT(object.takeLateExpects(), ElementsAre(9u));
  EXPECT_THAT(object.takeLateExpects(), IsEmpty());
}

TEST(MbarrierExpects, OpenPhaseSaysNothingYet) {
  MbarrierObject object = initialised(2);
  object.notePendingExpect({.warp = 0, .lane = 2, .epoch = 4, .event = 9});
  object.arrive(1, 3);
  EXPECT_THAT(object.takeLateExpects(), IsEmpty());
}

}  // namespace
}  // namespace handoff::machine
