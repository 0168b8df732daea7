// SPDX-License-Identifier: Apache-2.0
// Bytes of a box from what barriers expect and from how far apart the slots lie.
#include "analyzer/machine/tensor_boxes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace handoff::machine {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

constexpr std::uint64_t kA = 0x1000, kB = 0x2000, kC = 0x3000;  ///< addresses of maps
constexpr std::uint64_t kEnd = 0x10000;                         ///< of the shared variable

BoxFinder::PhaseKey phase(std::uint32_t number, std::uint64_t barrier = 0x8000) {
  return {0, barrier, number};
}

/// A copy into a variable that begins at 0 and ends at kEnd.
void load(BoxFinder& finder, BoxFinder::PhaseKey key, std::uint64_t map, std::uint64_t place) {
  finder.noteLoad(key, map, place, kEnd - place);
}

TEST(TensorBoxes, NothingIsGatheredWithoutAnUnknownMap) {
  BoxFinder finder;
  finder.noteExpect(phase(0), 512);
  finder.noteBytes(phase(0), 512);
  EXPECT_FALSE(finder.isGathering());
  EXPECT_THAT(finder.solve(), IsEmpty());
}

TEST(TensorBoxes, SingleMapIsWhatTheBarrierExpects) {
  BoxFinder finder;
  finder.noteExpect(phase(0), 4096);
  load(finder, phase(0), kA, 0);
  EXPECT_TRUE(finder.isGathering());
  EXPECT_THAT(finder.solve(), ElementsAre(Pair(kA, 4096)));
}

TEST(TensorBoxes, ExpectsOfOnePhaseAddUp) {
  BoxFinder finder;
  finder.noteExpect(phase(0), 1024);
  finder.noteExpect(phase(0), 3072);
  load(finder, phase(0), kA, 0);
  EXPECT_THAT(finder.solve(), ElementsAre(Pair(kA, 4096)));
}

TEST(TensorBoxes, SeveralCopiesOfOneMapShareThePhaseEvenly) {
  BoxFinder finder;
  finder.noteExpect(phase(0), 8192);
  for (unsigned i = 0; i < 4; ++i) load(finder, phase(0), kA, 2048 * i);
  EXPECT_THAT(finder.solve(), ElementsAre(Pair(kA, 2048)));
}

TEST(TensorBoxes, CopiesOfKnownSizeAreSubtracted) {
  BoxFinder finder;
  finder.noteExpect(phase(0), 4096 + 512);
  finder.noteBytes(phase(0), 512);
  load(finder, phase(0), kA, 0);
  EXPECT_THAT(finder.solve(), ElementsAre(Pair(kA, 4096)));
}

TEST(TensorBoxes, BarriersOfDifferentCtasAreDifferentPhases) {
  BoxFinder finder;
  for (const std::uint32_t rank : {0u, 1u}) {
    finder.noteExpect({rank, 0x8000, 0}, 4096);
    load(finder, {rank, 0x8000, 0}, kA, 0);
  }
  EXPECT_THAT(finder.solve(), ElementsAre(Pair(kA, 4096)));
}

TEST(TensorBoxes, TwoMapsWithDifferentBoxesBySlotSpacing) {
  // A ring of two stages: A at 0 and 8 KiB, B at 16 and 20 KiB, one barrier for both.
  BoxFinder finder;
  for (std::uint32_t i = 0; i < 2; ++i) {
    finder.noteExpect(phase(0, 0x8000 + 8 * i), 8192 + 4096);
    load(finder, phase(0, 0x8000 + 8 * i), kA, 8192 * i);
    load(finder, phase(0, 0x8000 + 8 * i), kB, 16384 + 4096 * i);
  }
  EXPECT_THAT(finder.solve(), ElementsAre(Pair(kA, 8192), Pair(kB, 4096)));
}

TEST(TensorBoxes, StagesWithBothMapsSideBySide) {
  // Each stage holds A and then B.
  BoxFinder finder;
  for (std::uint32_t i = 0; i < 2; ++i) {
    finder.noteExpect(phase(0, 0x8000 + 8 * i), 8192 + 4096);
    load(finder, phase(0, 0x8000 + 8 * i), kA, 12288 * i);
    load(finder, phase(0, 0x8000 + 8 * i), kB, 12288 * i + 8192);
  }
  EXPECT_THAT(finder.solve(), ElementsAre(Pair(kA, 8192), Pair(kB, 4096)));
}

TEST(TensorBoxes, RoomToTheEndOfTheVariableBoundsTheLastSlot) {
  BoxFinder finder;
  finder.noteExpect(phase(0), 8192 + 1024);
  finder.noteLoad(phase(0), kA, 0, 8192);
  finder.noteLoad(phase(0), kB, 0x20000, 1024);
  EXPECT_THAT(finder.solve(), ElementsAre(Pair(kA, 8192), Pair(kB, 1024)));
}

TEST(TensorBoxes, MapThatIsAloneInSomePhaseIsWeighedExactly) {
  // The prologue loads A alone; what it weighs gives B, although the slots lie farther apart than the boxes
  // are long.
  BoxFinder finder;
  finder.noteExpect(phase(0, 0x8100), 6144);
  load(finder, phase(0, 0x8100), kA, 0);
  finder.noteExpect(phase(0), 6144 + 1024);
  load(finder, phase(0), kA, 8192);
  load(finder, phase(0), kB, 16384);
  EXPECT_THAT(finder.solve(), ElementsAre(Pair(kA, 6144), Pair(kB, 1024)));
}

TEST(TensorBoxes, ChainOfWeighedMaps) {
  BoxFinder finder;
  finder.noteExpect(phase(2), 100 * 16 + 20 * 16 + 3 * 16);
  load(finder, phase(2), kA, 0);
  load(finder, phase(2), kB, 0x2000);
  load(finder, phase(2), kC, 0x4000);
  finder.noteExpect(phase(1), 100 * 16 + 20 * 16);
  load(finder, phase(1), kA, 0);
  load(finder, phase(1), kB, 0x2000);
  finder.noteExpect(phase(0), 100 * 16);
  load(finder, phase(0), kA, 0);
  EXPECT_THAT(finder.solve(), ElementsAre(Pair(kA, 1600), Pair(kB, 320), Pair(kC, 48)));
}

TEST(TensorBoxes, PaddedSlotsSayNothing) {
  // That both boxes are of 4 KiB would be a guess.
  BoxFinder finder;
  for (std::uint32_t i = 0; i < 2; ++i) {
    finder.noteExpect(phase(0, 0x8000 + 8 * i), 8192);
    load(finder, phase(0, 0x8000 + 8 * i), kA, 5120 * i);
    load(finder, phase(0, 0x8000 + 8 * i), kB, 10240 + 5120 * i);
  }
  EXPECT_THAT(finder.solve(), ElementsAre(Pair(kA, 0), Pair(kB, 0)));
}

TEST(TensorBoxes, MapThatOnlyStoresTakesTheDistanceToTheNextSlot) {
  BoxFinder finder;
  finder.noteStore(kA, 0, kEnd);
  finder.noteStore(kA, 2048, kEnd - 2048);
  EXPECT_TRUE(finder.isGathering());
  EXPECT_THAT(finder.solve(), ElementsAre(Pair(kA, 2048)));
}

TEST(TensorBoxes, MapThatOnlyStoresFromOnePlaceIsUnknown) {
  // How far it is to another map's slot, or to the end of dynamic shared memory, says nothing of its box.
  BoxFinder finder;
  finder.noteStore(kA, 2048, BoxFinder::kAnyRoom);
  finder.noteStore(kB, 0, BoxFinder::kAnyRoom);
  finder.noteStore(kC, 4096, 512);
  EXPECT_THAT(finder.solve(), ElementsAre(Pair(kA, 0), Pair(kB, 0), Pair(kC, 512)));
}

TEST(TensorBoxes, BytesThatDoNotDivideAreNotExplained) {
  BoxFinder finder;
  finder.noteExpect(phase(0), 10'001);
  load(finder, phase(0), kA, 0);
  load(finder, phase(0), kB, 4096);
  EXPECT_THAT(finder.solve(), ElementsAre(Pair(kA, 0), Pair(kB, 0)));
}

TEST(TensorBoxes, NobodyExpectsAnything) {
  BoxFinder finder;
  load(finder, phase(0), kA, 0);
  EXPECT_THAT(finder.solve(), ElementsAre(Pair(kA, 0)));
}

TEST(TensorBoxes, PhasesThatContradictEachOtherKeepTheFirstWeight) {
  // One of the two phases is wrong; the rest of the checks then says so.
  BoxFinder finder;
  finder.noteExpect(phase(0), 4096);
  load(finder, phase(0), kA, 0);
  finder.noteExpect(phase(1), 2048);
  load(finder, phase(1), kA, 0);
  EXPECT_THAT(finder.solve(), ElementsAre(Pair(kA, 4096)));
}

}  // namespace
}  // namespace handoff::machine
