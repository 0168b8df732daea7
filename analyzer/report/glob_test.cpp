// SPDX-License-Identifier: Apache-2.0
#include "analyzer/report/glob.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace handoff::report {
namespace {

TEST(Glob, StarStandsForAnyText) {
  EXPECT_TRUE(matchesGlob("missing-wait", "missing-*"));
  EXPECT_TRUE(matchesGlob("missing-wait", "*-wait"));
  EXPECT_TRUE(matchesGlob("missing-wait", "*s*g*t"));
  EXPECT_TRUE(matchesGlob("", "*"));
}

TEST(Glob, EverythingElseIsLiteral) {
  EXPECT_FALSE(matchesGlob("missing-wait", "missing"));
  EXPECT_FALSE(matchesGlob("missing-wait", "missing-wai?"));
  EXPECT_FALSE(matchesGlob("missing-wait", "wait"));
  EXPECT_FALSE(matchesGlob("a", ""));
}

TEST(GlobList, LastMatchDecides) {
  const GlobList list("*,-missing-*,missing-wait");
  EXPECT_TRUE(list.contains("hang"));
  EXPECT_FALSE(list.contains("missing-commit"));
  EXPECT_TRUE(list.contains("missing-wait"));
}

TEST(GlobList, EmptyListContainsNothing) { EXPECT_FALSE(GlobList("").contains("hang")); }

TEST(GlobList, TakesTheNamesThatNolintUses) { EXPECT_TRUE(GlobList("-*, handoff-hang").contains("hang")); }

TEST(GlobList, NamesGlobsWithoutAMatch) {
  EXPECT_THAT(GlobList("-*,mising-*,hang").unmatched({"hang", "missing-wait"}),
              testing::ElementsAre("mising-*"));
}

}  // namespace
}  // namespace handoff::report
