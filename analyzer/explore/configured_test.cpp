// SPDX-License-Identifier: Apache-2.0
#include "analyzer/explore/configured.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace handoff::explore {
namespace {

constexpr std::string_view kMangled = "_ZN2ns8ring_sumILi3EEEvPfi";
constexpr std::string_view kPretty = "ns::ring_sum<3>(float *, int)";

TEST(KernelGlobs, EveryWayToWriteAKernel) {
  for (const char* glob : {"_ZN2ns8ring_sumILi3EEEvPfi", "ns::ring_sum<3>(float *, int)", "ns::ring_sum<3>",
                           "ns::ring_sum", "*ring_sum", "ns::ring*", "*", "*<3>", "*ILi3E*"})
    EXPECT_TRUE(isKernelCalled(glob, kMangled, kPretty)) << glob;
  for (const char* glob : {"ring_sum", "ns::ring", "*<4>", "", "ns::ring_sum<3"})
    EXPECT_FALSE(isKernelCalled(glob, kMangled, kPretty)) << glob;
}

TEST(KernelGlobs, NamesWithBracketsOfTheirOwn) {
  EXPECT_TRUE(
      isKernelCalled("(anonymous namespace)::k", "_ZN1x1kEv", "(anonymous namespace)::k(void (*)(int))"));
  EXPECT_TRUE(isKernelCalled("k", "_Z1kI1AIiEEvv", "void k<A<int> >()")) << "as a demangler writes it";
  EXPECT_TRUE(isKernelCalled("k", "k", "k")) << "extern \"C\"";
}

TEST(ConfiguredFor, AllEntriesInTheirOrder) {
  Options options;
  options.configured = {{"*sum", "block=1", {}}, {"other", "block=2", {}}, {"ns::*", "block=3", {}}};
  const std::vector<const ConfiguredLaunch*> found = configuredFor(options, kMangled, kPretty);
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0]->text, "block=1");
  EXPECT_EQ(found[1]->text, "block=3");
}

}  // namespace
}  // namespace handoff::explore
