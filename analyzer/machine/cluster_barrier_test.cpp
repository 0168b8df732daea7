// SPDX-License-Identifier: Apache-2.0
// Participation in the cluster barrier.
#include "analyzer/machine/cluster_barrier.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace handoff::machine {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr ActorId kActor = 99;
const std::vector<LaneMask> kTwoWarps{kAllLanes, kAllLanes};

TEST(ClusterBarrier, WithoutArrivalsItIsNotComplete) {
  const ClusterBarrier barrier;
  EXPECT_FALSE(barrier.isActive());
  EXPECT_FALSE(barrier.isComplete(kTwoWarps));
  EXPECT_FALSE(barrier.isComplete({0, 0})) << "nor when everybody has left";
}

TEST(ClusterBarrier, EveryLiveThreadOfEveryWarpHasToArrive) {
  ClusterBarrier barrier;
  barrier.arrive(0, kAllLanes, 1);
  EXPECT_TRUE(barrier.isActive());
  EXPECT_FALSE(barrier.isComplete(kTwoWarps));
  barrier.arrive(1, 0xffff, 2);
  EXPECT_FALSE(barrier.isComplete(kTwoWarps));
  barrier.arrive(1, 0xffff0000, 3);
  EXPECT_TRUE(barrier.isComplete(kTwoWarps));
  EXPECT_THAT(barrier.arrivals(), ElementsAre(1, 2, 3));
}

TEST(ClusterBarrier, ExitedThreadsAreNotWaitedFor) {
  ClusterBarrier barrier;
  barrier.arrive(0, 0xf, 1);
  EXPECT_TRUE(barrier.isComplete({0xf, 0}));
  EXPECT_TRUE(barrier.isComplete({0x3, 0})) << "nor those that left after they had arrived";
  EXPECT_FALSE(barrier.isComplete({0xf, 1}));
}

TEST(ClusterBarrier, ArrivalsOfOneWarpAreNotThoseOfAnother) {
  ClusterBarrier barrier;
  barrier.arrive(1, 0xff, 1);
  EXPECT_EQ(barrier.arrivedOf(0), 0u);
  EXPECT_EQ(barrier.arrivedOf(1), 0xffu);
  EXPECT_EQ(barrier.arrivedOf(5), 0u);
}

TEST(ClusterBarrier, CompletionStartsTheNextGeneration) {
  ClusterBarrier barrier;
  barrier.openClock().raise(4, 2);
  barrier.arrive(0, kAllLanes, 1);
  barrier.complete(kActor);
  EXPECT_EQ(barrier.generation(), 1u);
  EXPECT_FALSE(barrier.isActive());
  EXPECT_THAT(barrier.arrivals(), IsEmpty());
  EXPECT_EQ(barrier.arrivedOf(0), 0u);
  EXPECT_EQ(barrier.openClock().at(4), 0u);
}

TEST(ClusterBarrier, WaitersLearnWhatWasReleasedAndTheGeneration) {
  ClusterBarrier barrier;
  barrier.openClock().raise(4, 2);
  barrier.arrive(0, kAllLanes, 1);
  barrier.complete(kActor);
  EXPECT_EQ(barrier.completedClock().at(4), 2u);
  EXPECT_EQ(barrier.completedClock().at(kActor), 1u);
  barrier.openClock().raise(5, 3);
  barrier.arrive(0, kAllLanes, 2);
  barrier.complete(kActor);
  EXPECT_EQ(barrier.completedClock().at(5), 3u);
  EXPECT_EQ(barrier.completedClock().at(kActor), 2u);
}

}  // namespace
}  // namespace handoff::machine
