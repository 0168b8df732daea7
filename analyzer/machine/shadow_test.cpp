// SPDX-License-Identifier: Apache-2.0
// Sets of readers, and the shadow's grid.
#include "analyzer/machine/shadow.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

namespace handoff::machine {
namespace {

class ReadSetsTest : public ::testing::Test {
 protected:
  EventId read(std::uint16_t warp, std::uint32_t site, Epoch epoch = 1) {
    return log_.add(
        {.site = site, .epoch = epoch, .lanes = kAllLanes, .warp = warp, .kind = EventKind::kRead});
  }
  std::map<EventId, LaneMask> readersOf(ReadSetId set) const {
    std::map<EventId, LaneMask> readers;
    sets_.forEach(set, [&](const ReadSets::Node& node) {
      readers[node.event] |= node.lanes;
      return true;
    });
    return readers;
  }
  LaneMask repeatedOf(ReadSetId set) const {
    LaneMask repeated = 0;
    sets_.forEach(set, [&](const ReadSets::Node& node) {
      repeated |= node.repeated;
      return true;
    });
    return repeated;
  }
  using Readers = std::map<EventId, LaneMask>;

  EventLog log_;
  ReadSets sets_{log_};
};

TEST_F(ReadSetsTest, EmptySetHasNoReaders) { EXPECT_TRUE(readersOf(0).empty()); }

TEST_F(ReadSetsTest, SingleReaderNeedsNoNode) {
  const EventId event = read(0, 1);
  const ReadSetId set = sets_.add(0, event, laneBit(31));
  EXPECT_EQ(readersOf(set), (Readers{{event, laneBit(31)}}));
  sets_.release(set);
  EXPECT_EQ(readersOf(set), (Readers{{event, laneBit(31)}})) << "releasing it is a no-op";
}

TEST_F(ReadSetsTest, LanesOfOneInstructionJoin) {
  const EventId event = read(0, 1);
  const ReadSetId set = sets_.add(sets_.add(0, event, 0b01), event, 0b10);
  EXPECT_EQ(readersOf(set), (Readers{{event, 0b11}}));
  EXPECT_EQ(repeatedOf(set), 0u);
}

TEST_F(ReadSetsTest, LaterReadOfAThreadReplacesItsEarlierOne) {
  const EventId first = read(0, 1), second = read(0, 2);
  const ReadSetId set = sets_.add(sets_.add(0, first, 0b11), second, 0b01);
  EXPECT_EQ(readersOf(set), (Readers{{first, 0b10}, {second, 0b01}}));
}

TEST_F(ReadSetsTest, OtherWarpStaysBesideIt) {
  const EventId first = read(0, 1), second = read(1, 1);
  const ReadSetId set = sets_.add(sets_.add(0, first, 0b1), second, 0b1);
  EXPECT_EQ(readersOf(set), (Readers{{first, 0b1}, {second, 0b1}}));
}

TEST_F(ReadSetsTest, AtomicDoesNotReplaceARead) {
  const EventId first = read(0, 1);
  const EventId atomic = log_.add({.site = 2, .epoch = 1, .lanes = 1, .warp = 0, .kind = EventKind::kAtomic});
  const ReadSetId set = sets_.add(sets_.add(0, first, 0b1), atomic, 0b1);
  EXPECT_EQ(readersOf(set).size(), 2u);
}

TEST_F(ReadSetsTest, SameStatementInALaterEpochIsARepetition) {
  const EventId first = read(0, 1, 1), again = read(0, 1, 2);
  const ReadSetId set = sets_.add(sets_.add(0, first, 0b11), again, 0b01);
  EXPECT_EQ(repeatedOf(set), 0b01u);
}

TEST_F(ReadSetsTest, SameStatementInTheSameEpochIsNone) {
  const EventId first = read(0, 1, 1), again = read(0, 1, 1);
  EXPECT_EQ(repeatedOf(sets_.add(sets_.add(0, first, 0b1), again, 0b1)), 0u);
}

TEST_F(ReadSetsTest, OtherStatementIsNone) {
  const EventId first = read(0, 1, 1), other = read(0, 2, 2);
  EXPECT_EQ(repeatedOf(sets_.add(sets_.add(0, first, 0b1), other, 0b1)), 0u);
}

TEST_F(ReadSetsTest, ReleasedNodesAreUsedAgain) {
  ReadSetId highest = 0;
  for (unsigned i = 0; i < 1000; ++i) {
    const ReadSetId set = sets_.add(sets_.add(0, read(0, 1), 0b11), read(1, 1), 0b11);
    highest = std::max(highest, set);
    sets_.release(set);
  }
  EXPECT_LT(highest, 10u);
}

TEST_F(ReadSetsTest, CellsWithTheSameReadersShareOneList) {
  const EventId first = read(0, 1), second = read(1, 1);
  const ReadSetId one = sets_.add(0, first, 0b11), other = sets_.add(0, first, 0b11);
  EXPECT_EQ(one, other);
  const ReadSetId more = sets_.add(one, second, 0b11);  // the other cell is not read again
  EXPECT_EQ(readersOf(more), (Readers{{first, 0b11}, {second, 0b11}}));
  EXPECT_EQ(readersOf(other), (Readers{{first, 0b11}}));
  sets_.release(more);
  for (unsigned i = 0; i < 10; ++i) sets_.add(0, read(2, 1), 0b11);
  EXPECT_EQ(readersOf(other), (Readers{{first, 0b11}})) << "still owned";
}

TEST_F(ReadSetsTest, FilterLeavesWhatOthersHold) {
  const EventId first = read(0, 1), second = read(1, 1);
  const auto both = [&] { return sets_.add(sets_.add(0, first, 0b11), second, 0b11); };
  const ReadSetId one = both(), other = both();
  const auto keepFirst = [&](const ReadSets::Node& node) { return node.event == first ? LaneMask{0b10} : LaneMask{0}; };
  EXPECT_EQ(readersOf(sets_.filter(one, keepFirst)), (Readers{{first, 0b10}}));
  EXPECT_EQ(readersOf(other), (Readers{{first, 0b11}, {second, 0b11}}));
  EXPECT_EQ(sets_.filter(other, [](const ReadSets::Node&) { return kAllLanes; }), other);
}

TEST_F(ReadSetsTest, ManyReadersAreAllKept) {
  ReadSetId set = 0;
  for (std::uint16_t warp = 0; warp < 32; ++warp) set = sets_.add(set, read(warp, 1), kAllLanes);
  EXPECT_EQ(readersOf(set).size(), 32u);
}

TEST(WriteId, HoldsEventAndLane) {
  const WriteId write = makeWrite(1234, 31);
  EXPECT_EQ(eventOf(write), 1234u);
  EXPECT_EQ(laneOf(write), 31u);
}

TEST(Shadow, BytesBeyondTheLastOneAreOutside) {
  const Shadow shadow(64, 16);
  EXPECT_TRUE(shadow.contains(48, 16));
  EXPECT_FALSE(shadow.contains(49, 16));
  EXPECT_FALSE(shadow.contains(64, 1));
  EXPECT_FALSE(shadow.contains(~std::uint64_t{0}, 2)) << "no wrap-around";
}

TEST(Shadow, SizeIsThatOfTheMemoryNotOfTheGrid) {
  const Shadow shadow(20, 16);
  EXPECT_FALSE(shadow.contains(16, 16)) << "bytes 20 to 31 do not exist";
}

TEST(Shadow, NeighboursShareNoCell) {
  Shadow shadow(64, 4);
  shadow.at(4).write = 7;
  EXPECT_EQ(shadow.at(0).write, 0u);
  EXPECT_EQ(shadow.at(7).write, 7u);
  EXPECT_EQ(shadow.at(8).write, 0u);
}

TEST(PagedShadow, PagesAreKeptApart) {
  PagedShadow shadow;
  shadow.at(0x1000).write = 1;
  shadow.at(0x2000).write = 2;
  EXPECT_EQ(shadow.at(0x1000).write, 1u);
  EXPECT_EQ(shadow.at(0x2000).write, 2u);
  EXPECT_EQ(shadow.at(0x1'0000'1000).write, 0u);
}

}  // namespace
}  // namespace handoff::machine
