// SPDX-License-Identifier: Apache-2.0
// Which groups a wait retires.
#include "analyzer/machine/copy_groups.h"

#include <gtest/gtest.h>

namespace handoff::machine {
namespace {

constexpr LaneMask kLane = 1;

/// Issues one copy and commits it, `groups` times.
CopyGroups committed(unsigned groups) {
  CopyGroups copies;
  for (unsigned g = 0; g < groups; ++g) {
    copies.noteCopy(kLane);
    copies.commit(kLane);
  }
  return copies;
}

TEST(CopyGroups, UncommittedCopyBelongsToTheOpenGroup) {
  CopyGroups copies = committed(2);
  copies.noteCopy(kLane);
  EXPECT_EQ(copies.openGroup(0), 2u);
  EXPECT_FALSE(copies.isCommitted(0, 2));
  EXPECT_TRUE(copies.isCommitted(0, 1));
}

TEST(CopyGroups, WaitGroupZeroDoesNotCoverUncommittedCopies) {
  CopyGroups copies;
  copies.noteCopy(kLane);
  copies.waitGroup(kLane, 0, /*wait=*/1, /*epoch=*/1);
  copies.commit(kLane);
  EXPECT_FALSE(copies.isRetired(0, 0));
  EXPECT_TRUE(copies.hasUnretired(0));
}

TEST(CopyGroups, WaitGroupOneLeavesNewestGroupPending) {
  CopyGroups copies = committed(3);
  copies.waitGroup(kLane, 1, 1, 1);
  EXPECT_TRUE(copies.isRetired(0, 0));
  EXPECT_TRUE(copies.isRetired(0, 1));
  EXPECT_FALSE(copies.isRetired(0, 2));
}

TEST(CopyGroups, WaitForMoreGroupsThanThereAreRetiresNone) {
  CopyGroups copies = committed(2);
  copies.waitGroup(kLane, 2, 1, 1);
  EXPECT_FALSE(copies.isRetired(0, 0));
  copies.waitGroup(kLane, 7, 2, 1);
  EXPECT_FALSE(copies.isRetired(0, 0));
}

TEST(CopyGroups, EmptyGroupsCount) {
  CopyGroups copies = committed(1);
  copies.commit(kLane);
  copies.commit(kLane);
  copies.waitGroup(kLane, 2, 1, 1);
  EXPECT_TRUE(copies.isRetired(0, 0));
}

TEST(CopyGroups, WaitAllCoversUncommittedCopies) {
  CopyGroups copies;
  copies.noteCopy(kLane);
  copies.waitAll(kLane, 1, 1);
  EXPECT_TRUE(copies.isRetired(0, 0));
  EXPECT_FALSE(copies.hasUnretired(0));
}

TEST(CopyGroups, GroupKeepsTheEpochOfTheFirstWaitThatRetiredIt) {
  CopyGroups copies = committed(2);
  copies.waitGroup(kLane, 1, 1, /*epoch=*/4);
  copies.waitGroup(kLane, 0, 2, /*epoch=*/9);
  EXPECT_EQ(copies.retireEpoch(0, 0), 4u);
  EXPECT_EQ(copies.retireEpoch(0, 1), 9u);
}

TEST(CopyGroups, LanesCountForThemselves) {
  CopyGroups copies;
  copies.noteCopy(0b11);
  copies.commit(0b01);
  copies.waitGroup(0b11, 0, 1, 1);
  EXPECT_TRUE(copies.isRetired(0, 0));
  EXPECT_FALSE(copies.isRetired(1, 0));
  EXPECT_EQ(copies.openGroup(0), 1u);
  EXPECT_EQ(copies.openGroup(1), 0u);
}

TEST(CopyGroups, LastWaitAfterIgnoresEarlierWaits) {
  CopyGroups copies = committed(1);
  copies.waitGroup(kLane, 3, /*wait=*/5, 1);
  EXPECT_EQ(copies.lastWaitAfter(0, 5), nullptr);
  ASSERT_NE(copies.lastWaitAfter(0, 4), nullptr);
  EXPECT_EQ(copies.lastWaitAfter(0, 4)->pending_allowed, 3u);
  EXPECT_EQ(copies.lastWaitAfter(1, 0), nullptr);
}

TEST(CopyGroups, EmptyGroupsLeaveNothingBehind) {
  CopyGroups copies;
  copies.commit(kLane);
  EXPECT_FALSE(copies.hasUnretired(0));
}

TEST(CopyGroups, TrackedCopiesNameThePhaseAfterTheirArrival) {
  CopyGroups copies = committed(1);
  copies.track(kLane, /*upto=*/7, /*barrier=*/64, /*phase=*/2);
  ASSERT_EQ(copies.tracked(0).size(), 1u);
  EXPECT_EQ(copies.tracked(0)[0].known_from, 3u);
  EXPECT_FALSE(copies.hasUnretired(0));
}

}  // namespace
}  // namespace handoff::machine
