// SPDX-License-Identifier: Apache-2.0
#include "analyzer/explore/run_memory.h"

#include <gtest/gtest.h>

namespace handoff::explore {
namespace {

TEST(RunMemory, RegistersOfAllWarpsCount) {
  machine::Program program;
  program.register_count = 20'000;
  machine::Launch launch;
  EXPECT_EQ(whyTooLarge(program, launch, 64), "");
  launch.block = {1024, 1, 1};
  EXPECT_NE(whyTooLarge(program, launch, 64).find("more than --max-memory allows"), std::string::npos);
}

TEST(RunMemory, LocalMemoryOfAllLanesCounts) {
  machine::Program program;
  program.local_bytes = 1U << 20U;
  EXPECT_NE(whyTooLarge(program, {}, 63), "");
  EXPECT_EQ(whyTooLarge(program, {}, 64), "");
}

}  // namespace
}  // namespace handoff::explore
