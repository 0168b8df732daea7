// SPDX-License-Identifier: Apache-2.0
// Addresses, predicates and branches that depend on unknown data.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analyzer/test_support/ptx_kernel.h"

namespace handoff::machine {
namespace {

using test::kCommit;
using test::kCopy;
using test::kSync;
using test::kWait;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

/// %r1: any word, another one in each thread.
const std::string kLoad = "ld.global.u32 %r1, [%g];\n";
/// %r3: the address of word %r2 of `tile`, `from` bytes on.
std::string wordAt(unsigned from) {
  return "shl.b32 %r3, %r2, 2;\nmov.u32 %r4, tile;\nadd.u32 %r3, %r3, %r4;\nadd.u32 %r3, %r3, " + std::to_string(from) + ";\n";
}
/// A copy in flight into the first 512 bytes of `tile`.
const std::string kInFlight = std::string(kCopy) + kCommit;

struct Found {
  std::vector<std::string> rules;
  std::vector<std::string> limits;
  bool is_possible = true;  ///< all findings are
};

Found check(const std::string& statements, const test::Setup& setup = {}) {
  const test::Ran ran = test::run(statements, setup);
  Found found{.rules = {}, .limits = test::limitsOf(ran), .is_possible = true};
  for (const diagnose::Diagnosis& diagnosis : ran.diagnoses()) {
    if (diagnosis.finding.severity == diagnose::Severity::kNote) continue;
    found.rules.push_back(diagnosis.finding.rule);
    found.is_possible &= diagnosis.finding.severity == diagnose::Severity::kPossible;
  }
  return found;
}

TEST(UnknownAddress, ThatCannotMeetACopyIsNoLimit) {
  const Found found = check(kInFlight + kLoad + "and.b32 %r2, %r1, 255;\n" + wordAt(512) + "ld.shared.u32 %r5, [%r3];\n" + kWait);
  EXPECT_THAT(found.rules, IsEmpty());
  EXPECT_THAT(found.limits, IsEmpty());
}

TEST(UnknownAddress, ThatMayMeetACopyIsPossible) {
  const test::Ran ran = test::run(kInFlight + kLoad + "and.b32 %r2, %r1, 255;\n" + wordAt(508) + "ld.shared.u32 %r5, [%r3];\n" + kWait);
  ASSERT_THAT(ran.outcome.conflicts, SizeIs(1));
  EXPECT_TRUE(ran.outcome.conflicts[0].is_possible);
  ASSERT_THAT(ran.outcome.conflicts[0].data, SizeIs(1));
  EXPECT_EQ(ran.outcome.conflicts[0].data[0].value % 256, 0u) << "word 0 behind byte 508 is the last of the copied ones";
  const auto diagnoses = ran.diagnoses();
  ASSERT_THAT(diagnoses, SizeIs(1));
  EXPECT_EQ(diagnoses[0].finding.rule, "missing-barrier") << "it is the copy of another thread, which waits for it later";
  EXPECT_EQ(diagnoses[0].finding.severity, diagnose::Severity::kPossible);
  EXPECT_THAT(diagnoses[0].finding.message, HasSubstr("may overlap"));
}

TEST(UnknownAddress, KnownConflictsStayCertain) {
  const Found found = check(kInFlight + kLoad + "and.b32 %r2, %r1, 255;\n" + wordAt(0) +
                            "ld.shared.u32 %r5, [%r3];\nld.shared.u32 %r6, [%s];\n" + kWait);
  EXPECT_THAT(found.rules, testing::Contains("missing-wait"));
  EXPECT_FALSE(found.is_possible);
}

TEST(UnknownAddress, OrderedAccessesAreFine) {
  const Found found = check(kInFlight + kWait + kSync + kLoad + "and.b32 %r2, %r1, 255;\n" + wordAt(0) +
                            "st.shared.u32 [%r3], %r1;\n" + kSync + kCopy + kCommit + kWait);
  EXPECT_THAT(found.rules, IsEmpty());
  EXPECT_THAT(found.limits, IsEmpty());
}

TEST(UnknownAddress, LaterCopiesAreCheckedAgainstIt) {
  const test::Setup setup{.block = {64, 1, 1}};
  const std::string read = kLoad + "and.b32 %r2, %r1, 255;\n" + wordAt(0) + "ld.shared.u32 %r5, [%r3];\n";
  EXPECT_THAT(check(read + kInFlight + kWait, setup).rules, ElementsAre("missing-barrier"));
  EXPECT_THAT(check(read + kSync + kInFlight + kWait, setup).rules, IsEmpty());
  const std::string write = kLoad + "and.b32 %r2, %r1, 255;\n" + wordAt(0) + "st.shared.u32 [%r3], %r1;\n";
  EXPECT_THAT(check(write + kInFlight + kWait, setup).rules, ElementsAre("overlapping-copies"));
  EXPECT_THAT(check(write + kSync + kInFlight + kWait, setup).rules, IsEmpty());
}

TEST(UnknownAddress, OfTwoKindsMayMeet) {
  const std::string both = kLoad + "and.b32 %r2, %r1, 63;\n" + wordAt(0) + "st.shared.u32 [%r3], %r1;\n%SYNC%" +
                           "ld.global.u32 %r1, [%g+4];\nand.b32 %r2, %r1, 63;\n" + wordAt(0) + "ld.shared.u32 %r5, [%r3];\n";
  const auto with = [&](const std::string& between) {
    std::string text = both;
    return text.replace(text.find("%SYNC%"), 6, between);
  };
  EXPECT_THAT(check(with("")).rules, ElementsAre("missing-barrier"));
  EXPECT_THAT(check(with(kSync)).rules, IsEmpty());
}

TEST(UnknownAddress, MayLeaveSharedMemory) {
  const Found found = check(kLoad + "mov.u32 %r2, %r1;\n" + wordAt(0) + "ld.shared.u32 %r5, [%r3];\n");
  EXPECT_THAT(found.limits, ElementsAre(HasSubstr("was not shown to stay within shared memory")));
}

TEST(UnknownAddress, FollowsArithmetic) {
  const auto limits = [](const std::string& index) {
    return check(kInFlight + kLoad + index + wordAt(512) + "ld.shared.u32 %r5, [%r3];\n" + kWait).limits;
  };
  EXPECT_THAT(limits("min.u32 %r2, %r1, 99;\n"), IsEmpty());
  EXPECT_THAT(limits("rem.u32 %r2, %r1, 100;\n"), IsEmpty());
  EXPECT_THAT(limits("shr.u32 %r2, %r1, 24;\n"), IsEmpty());
  EXPECT_THAT(limits("max.s32 %r2, %r1, 0;\nmin.s32 %r2, %r2, 99;\n"), IsEmpty());
  EXPECT_THAT(limits("ld.global.u8 %r2, [%g];\n"), IsEmpty());
  EXPECT_THAT(limits("setp.lt.u32 %p1, %r1, 100;\nselp.u32 %r2, %r1, 7, %p1;\n"), IsEmpty());
  EXPECT_THAT(limits("mov.u32 %r2, %r1;\nsetp.gt.u32 %p1, %r1, 99;\n@%p1 mov.u32 %r2, 99;\n"), IsEmpty());
  EXPECT_THAT(limits("min.s32 %r2, %r1, 99;\n"), SizeIs(1)) << "it may be negative";
}

TEST(UnknownAddress, MayMeetAnMbarrier) {
  const std::string init = "setp.eq.u32 %p1, %t, 0;\n@%p1 mbarrier.init.shared.b64 [bar], 1;\n" + std::string(kSync);
  const std::string store = "mov.u32 %r4, bar;\nadd.u32 %r3, %r2, %r4;\nst.shared.u32 [%r3], %r1;\n";
  const Found met = check(init + kLoad + "and.b32 %r2, %r1, 32;\n" + store);
  EXPECT_THAT(met.rules, ElementsAre("uninitialized-barrier"));
  EXPECT_TRUE(met.is_possible);
  EXPECT_THAT(check(init + kLoad + "and.b32 %r2, %r1, 32;\nor.b32 %r2, %r2, 32;\n" + store).rules, IsEmpty());
}

TEST(UnknownCondition, GuardsWhatItGuards) {
  const auto found = [](const std::string& bound) {
    return check(kInFlight + kLoad + "mov.u32 %r2, %r1;\n" + wordAt(512) + "setp.lt.u32 %p1, %r1, " + bound +
                 ";\n@%p1 ld.shared.u32 %r5, [%r3];\nsetp.lt.s32 %p2, %r1, 0;\n" + kWait);
  };
  EXPECT_THAT(found("64").limits, IsEmpty());
  EXPECT_THAT(found("0xffffffff").limits, SizeIs(1));
  const std::string branch = kInFlight + kLoad + "setp.ge.u32 %p1, %r1, 64;\n@%p1 bra END;\nmov.u32 %r2, %r1;\n" + wordAt(512) +
                             "ld.shared.u32 %r5, [%r3];\nEND:\n" + kWait;
  EXPECT_THAT(check(branch).limits, IsEmpty());
  EXPECT_THAT(check(branch).rules, IsEmpty());
}

TEST(UnknownCondition, HazardsBehindItArePossible) {
  for (const char* jump : {"@%p1 bra END;\nld.shared.u32 %r5, [%s];\n", "@!%p1 bra END;\nld.shared.u32 %r5, [%s];\n"}) {
    const Found found = check(kInFlight + kLoad + "setp.gt.u32 %p1, %r1, 7;\n" + jump + "END:\n" + kWait);
    EXPECT_THAT(found.rules, ElementsAre("missing-wait"));
    EXPECT_TRUE(found.is_possible);
    EXPECT_THAT(found.limits, IsEmpty());
  }
}

TEST(UnknownCondition, ThatCannotHoldHidesItsAccesses) {
  EXPECT_THAT(check(kInFlight + kLoad + "setp.gt.u32 %p1, %r1, 7;\n@!%p1 bra END;\nsetp.lt.u32 %p2, %r1, 5;\n@!%p2 bra END;\n"
                    "ld.shared.u32 %r5, [%s];\nEND:\n" + kWait).rules,
              IsEmpty());
}

TEST(UnknownCondition, DoesNotOverwriteTheShadow) {
  // The store need not happen: the copy before it is still what the read meets.
  const Found found = check(kInFlight + kLoad + "setp.gt.u32 %p1, %r1, 7;\n@%p1 st.shared.u32 [%s], %r1;\nld.shared.u32 %r5, [%s];\n" + kWait);
  EXPECT_THAT(found.rules, testing::Contains("missing-wait"));
  EXPECT_FALSE(found.is_possible);
}

TEST(UnknownCondition, LoopsOfAccessesStandForAnyNumberOfTurns) {
  const auto loop = [](const std::string& mask) {
    return check(kInFlight + kLoad + "mov.u32 %r9, 0;\nLOOP:\nld.global.u32 %r1, [%g];\nand.b32 %r2, %r1, " + mask + ";\n" + wordAt(512) +
                 "atom.shared.add.u32 _, [%r3], 1;\nadd.u32 %r9, %r9, 1;\nld.global.u32 %r8, [%g+4];\n"
                 "setp.lt.u32 %p1, %r9, %r8;\n@%p1 bra LOOP;\n" + kWait);
  };
  EXPECT_THAT(loop("63").limits, IsEmpty());
  EXPECT_THAT(loop("63").rules, IsEmpty());
}

/// What a kernel says when threads go ways of their own.
std::vector<std::string> rulesOf(const std::string& statements, UnknownBranches way, const test::Setup& given = {}) {
  test::Setup setup = given;
  setup.options.unknown_branches = way;
  return check(statements, setup).rules;
}

TEST(UnknownBranch, ThreadsMayPartWays) {
  const test::Setup setup{.block = {64, 1, 1}};
  const std::string meet = kLoad + "setp.gt.u32 %p1, %r1, 7;\n@%p1 bra B;\nbarrier.sync 1, 64;\nbra.uni END;\nB:\nbarrier.sync 2, 64;\nEND:\n";
  EXPECT_THAT(rulesOf(meet, UnknownBranches::kHoldNowhere, setup), IsEmpty());
  EXPECT_THAT(rulesOf(meet, UnknownBranches::kHoldEverywhere, setup), IsEmpty());
  EXPECT_THAT(rulesOf(meet, UnknownBranches::kHoldInFirstWarp, setup), testing::Not(IsEmpty()));
  EXPECT_THAT(rulesOf(meet, UnknownBranches::kHoldInOtherWarps, setup), testing::Not(IsEmpty()));
}

TEST(UnknownBranch, LanesMayPartWays) {
  const std::string arrive = "setp.eq.u32 %p2, %t, 0;\n@%p2 mbarrier.init.shared.b64 [bar], 32;\n" + std::string(kSync) + kLoad +
                             "setp.gt.u32 %p1, %r1, 7;\n@%p1 mbarrier.arrive.shared.b64 _, [bar];\n@%p1 bra END;\nLOOP:\n"
                             "mbarrier.test_wait.parity.shared.b64 %p3, [bar], 0;\n@!%p3 bra LOOP;\nEND:\n";
  EXPECT_THAT(rulesOf(arrive, UnknownBranches::kHoldEverywhere), IsEmpty());
  EXPECT_THAT(rulesOf(arrive, UnknownBranches::kHoldInOtherLanes), testing::Not(IsEmpty()));
}

TEST(UnknownBranch, ByTurns) {
  // One turn copies, another one reads: only both together are wrong.
  const std::string either = "mov.u32 %r9, 0;\nLOOP:\n" + kLoad + "setp.gt.u32 %p1, %r1, 7;\n@%p1 bra COPY;\n" +
                             "ld.shared.u32 %r5, [%s];\nbra.uni NEXT;\nCOPY:\n" + kCopy + kCommit +
                             "NEXT:\nxor.b32 %r9, %r9, 1;\nsetp.eq.u32 %p2, %r9, 1;\n@%p2 bra LOOP;\n";
  EXPECT_THAT(rulesOf(either, UnknownBranches::kHoldNowhere), IsEmpty());
  EXPECT_THAT(rulesOf(either, UnknownBranches::kHoldEverywhere), IsEmpty());
  EXPECT_THAT(rulesOf(either, UnknownBranches::kHoldByTurns), testing::Contains("missing-wait"));
}

TEST(UnknownBranch, OneValueForAllIsNotSplit) {
  const test::Setup setup{.block = {64, 1, 1}};
  const std::string meet = "ld.global.u32 %r1, [%in];\nsetp.gt.u32 %p1, %r1, 7;\n@%p1 bra B;\nbarrier.sync 1, 64;\nbra.uni END;\nB:\nbarrier.sync 2, 64;\nEND:\n";
  EXPECT_THAT(rulesOf(meet, UnknownBranches::kHoldInFirstWarp, setup), IsEmpty());
}

}  // namespace
}  // namespace handoff::machine
