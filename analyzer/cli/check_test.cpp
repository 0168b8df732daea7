// SPDX-License-Identifier: Apache-2.0
#include "analyzer/cli/check.h"

#include <gtest/gtest.h>

namespace handoff::cli {
namespace {

report::Totals clean() {
  report::Totals totals;
  totals.files = totals.kernels = totals.verified = 1;
  return totals;
}

TEST(ExitCode, CleanIsZero) { EXPECT_EQ(exitCodeFor(clean(), {}), ExitCode::kNothingFound); }

TEST(ExitCode, NotesAreNoFindings) {
  report::Totals totals = clean();
  totals.notes = 1;
  EXPECT_EQ(exitCodeFor(totals, {}), ExitCode::kNothingFound);
}

TEST(ExitCode, WhatIsPossibleOrForOtherLaunchesIsNoFinding) {
  report::Totals totals = clean();
  totals.possible = totals.for_other_launches = 1;
  EXPECT_EQ(exitCodeFor(totals, {}), ExitCode::kNothingFound);
}

TEST(ExitCode, WarningsAndErrorsAreFindings) {
  report::Totals totals = clean();
  totals.warnings = 1;
  EXPECT_EQ(exitCodeFor(totals, {}), ExitCode::kFindings);
  CheckOptions options;
  options.exits_zero = true;
  EXPECT_EQ(exitCodeFor(totals, options), ExitCode::kNothingFound);
}

TEST(ExitCode, UnreadFileOutranksFindings) {
  report::Totals totals = clean();
  totals.errors = 1;
  totals.failed_files = 1;
  CheckOptions options;
  EXPECT_EQ(exitCodeFor(totals, options), ExitCode::kBadInput);
  options.exits_zero = true;
  EXPECT_EQ(exitCodeFor(totals, options), ExitCode::kBadInput);
}

TEST(ExitCode, FileWhoseKernelsAreAllUncheckedIsBadInput) {
  report::Totals totals = clean();
  totals.files_unchecked = 1;
  EXPECT_EQ(exitCodeFor(totals, {}), ExitCode::kBadInput);
}

TEST(ExitCode, RequireCheckedWantsKernelsAndAllOfThem) {
  CheckOptions options;
  options.require = Requirement::kChecked;
  report::Totals totals = clean();
  totals.files_without_kernel = 1;
  EXPECT_EQ(exitCodeFor(totals, {}), ExitCode::kNothingFound);
  EXPECT_EQ(exitCodeFor(totals, options), ExitCode::kBadInput);
  totals = clean();
  totals.unchecked = 1;
  EXPECT_EQ(exitCodeFor(totals, {}), ExitCode::kNothingFound);
  EXPECT_EQ(exitCodeFor(totals, options), ExitCode::kBadInput);
}

TEST(ExitCode, RequireVerifiedRefusesBounded) {
  CheckOptions options;
  report::Totals totals = clean();
  totals.bounded = 1;
  EXPECT_EQ(exitCodeFor(totals, options), ExitCode::kNothingFound);
  options.require = Requirement::kVerified;
  EXPECT_EQ(exitCodeFor(totals, options), ExitCode::kFindings);
}

TEST(ExitCode, KernelThatNothingMatchesIsBadInput) {
  CheckOptions options;
  options.kernel = "nothing";
  report::Totals totals;
  totals.files = totals.files_without_kernel = 1;
  EXPECT_EQ(exitCodeFor(totals, options), ExitCode::kBadInput);
}

}  // namespace
}  // namespace handoff::cli
