// SPDX-License-Identifier: Apache-2.0
// Names of variables, threads and places.
#include "analyzer/diagnose/names.h"

#include <gtest/gtest.h>

#include "analyzer/machine/address.h"

namespace handoff::diagnose {
namespace {

TEST(Names, PlainNamesStayAsTheyAre) {
  EXPECT_EQ(variableName("tile"), "tile");
  EXPECT_EQ(demangle("kernel"), "kernel");
}

TEST(Names, StaticsOfFunctionsLoseTheirScope) {
  EXPECT_EQ(variableName("_ZZ8ring_sumPK6float4PfiE4ring"), "ring");
}

TEST(Names, NumbersOfNvccAreDropped) { EXPECT_EQ(variableName("tile$3"), "tile"); }

TEST(Names, KernelsAreDemangled) {
  EXPECT_EQ(demangle("_Z8ring_sumPK6float4Pfi"), "ring_sum(float4 const*, float*, int)");
}

TEST(Names, ThreadsAreCountedByTheirDimensions) {
  machine::Launch launch;
  launch.block = {8, 4, 2};
  EXPECT_EQ(threadName(launch, 0, 0), "(0,0,0)");
  EXPECT_EQ(threadName(launch, 0, 13), "(5,1,0)");
  EXPECT_EQ(threadName(launch, 1, 1), "(1,0,1)");
}

class PlaceNames : public ::testing::Test {
 protected:
  PlaceNames() {
    program_.shared.push_back({"ring", machine::kSharedBase, 3 * 128 * 16, 16});
    program_.shared.push_back({"more", machine::kSharedBase + 8192, 0, 16});
    names_.buffers[0] = "in";
  }
  std::string shared(std::uint64_t offset) {
    return placeName(program_, names_, ptx::Space::kShared, machine::kSharedBase + offset);
  }

  machine::Program program_;
  Names names_;
};

TEST_F(PlaceNames, WithoutAShapeBytesAreCounted) { EXPECT_EQ(shared(2064), "ring, byte 2064"); }

TEST_F(PlaceNames, WithAShapeElementsAre) {
  names_.arrays["ring"] = {.element_bytes = 16, .extents = {3, 128}};
  EXPECT_EQ(shared(0), "ring[0][0]");
  EXPECT_EQ(shared(2064), "ring[1][1]");
}

TEST_F(PlaceNames, OpenFirstExtentTakesTheRest) {
  names_.arrays["more"] = {.element_bytes = 4, .extents = {0, 64}};
  EXPECT_EQ(shared(8192 + 4 * 64 * 70 + 4), "more[70][1]");
}

TEST_F(PlaceNames, DynamicMemoryIsEverythingBehindTheStaticVariables) {
  EXPECT_EQ(shared(9000), "more, byte 808");
}

TEST_F(PlaceNames, MemoryOfNoVariableIsNamedByItsOffset) {
  program_.shared.clear();
  EXPECT_EQ(shared(64), "shared memory, byte 64");
}

TEST_F(PlaceNames, GlobalBuffersAreTheParameters) {
  EXPECT_EQ(placeName(program_, names_, ptx::Space::kGlobal, machine::bufferBase(0) + 64), "in, byte 64");
  EXPECT_EQ(bufferName(program_, names_, ptx::Space::kGlobal, machine::bufferBase(5)), "global memory");
}

}  // namespace
}  // namespace handoff::diagnose
