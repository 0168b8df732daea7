// SPDX-License-Identifier: Apache-2.0
// Participation of CTA barriers.
#include "analyzer/machine/cta_barrier.h"

#include <gtest/gtest.h>

namespace handoff::machine {
namespace {

constexpr std::uint32_t kWholeCta = 0;

CtaBarrier::Arrival warp(std::uint16_t index, LaneMask lanes = kAllLanes) {
  return {.warp = index, .lanes = lanes, .waits = true, .event = 1u + index};
}

TEST(CtaBarrier, NobodyArrivedIsNotComplete) { EXPECT_FALSE(CtaBarrier().isComplete({kAllLanes})); }

TEST(CtaBarrier, WholeCtaWaitsForEveryWarp) {
  CtaBarrier barrier;
  barrier.arrive(warp(0), kWholeCta);
  EXPECT_FALSE(barrier.isComplete({kAllLanes, kAllLanes}));
  barrier.arrive(warp(1), kWholeCta);
  EXPECT_TRUE(barrier.isComplete({kAllLanes, kAllLanes}));
}

TEST(CtaBarrier, ExitedWarpIsNotWaitedForWithoutACount) {
  CtaBarrier barrier;
  barrier.arrive(warp(0), kWholeCta);
  EXPECT_TRUE(barrier.isComplete({kAllLanes, 0}));
}

TEST(CtaBarrier, ExitedWarpIsNotCreditedWithACount) {
  CtaBarrier barrier;
  barrier.arrive(warp(0), 64);
  EXPECT_FALSE(barrier.isComplete({kAllLanes, 0}));
  EXPECT_EQ(barrier.arrivedThreads({kAllLanes, 0}), 32u);
}

TEST(CtaBarrier, WarpCountsOnceItsLiveLanesAreThere) {
  CtaBarrier barrier;
  barrier.arrive(warp(0, 0x0000ffff), 32);
  EXPECT_FALSE(barrier.isComplete({kAllLanes}));
  EXPECT_TRUE(barrier.isComplete({0x0000ffff})) << "the other half has left";
  barrier.arrive(warp(0, 0xffff0000), 32);
  EXPECT_TRUE(barrier.isComplete({kAllLanes}));
}

TEST(CtaBarrier, PartialLastWarpCountsAsAWholeOne) {
  CtaBarrier barrier;
  barrier.arrive(warp(0), 64);
  barrier.arrive(warp(1, 0xff), 64);
  EXPECT_TRUE(barrier.isComplete({kAllLanes, 0xff}));
}

// FlashAttention 3 hands the first turn to itself: the warps of a group arrive, and then wait in the same round.
TEST(CtaBarrier, WarpCountsEachTimeItArrives) {
  CtaBarrier barrier;
  for (const std::uint16_t index : {0, 1, 0}) barrier.arrive(warp(index), 128);
  EXPECT_EQ(barrier.arrivedThreads({kAllLanes, kAllLanes}), 96u);
  EXPECT_FALSE(barrier.isComplete({kAllLanes, kAllLanes}));
  barrier.arrive(warp(1), 128);
  EXPECT_TRUE(barrier.isComplete({kAllLanes, kAllLanes}));
}

TEST(CtaBarrier, HalvesOfAWarpAreOneArrival) {
  CtaBarrier barrier;
  barrier.arrive(warp(0, 0x0000ffff), 64);
  barrier.arrive(warp(0, 0xffff0000), 64);
  EXPECT_EQ(barrier.arrivedThreads({kAllLanes}), 32u);
}

TEST(CtaBarrier, CountIsThatOfTheFirstParticipant) {
  CtaBarrier barrier;
  barrier.arrive(warp(0), 64);
  barrier.arrive(warp(1), 96);
  EXPECT_EQ(barrier.expectedThreads(), 64u);
}

TEST(CtaBarrier, ResetStartsAfresh) {
  CtaBarrier barrier;
  barrier.arrive(warp(0), 32);
  barrier.clock().raise(0, 1);
  const ClockRef old = barrier.releaseClock();
  barrier.reset();
  EXPECT_FALSE(barrier.isActive());
  EXPECT_EQ(barrier.expectedThreads(), 0u);
  EXPECT_EQ(barrier.clock().at(0), 0u);
  EXPECT_EQ(old->at(0), 1u) << "whoever was released keeps the clock of its generation";
}

}  // namespace
}  // namespace handoff::machine
