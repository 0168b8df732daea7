// SPDX-License-Identifier: Apache-2.0
// Every rule once end to end from a few lines of PTX: first the code that is right, then the same with the
// defect.
#include "analyzer/diagnose/diagnose.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analyzer/diagnose/rule.h"
#include "analyzer/test_support/ptx_kernel.h"

namespace handoff::diagnose {
namespace {

using test::kCommit;
using test::kCopy;
using test::kReadOther;
using test::kReadOwn;
using test::kSync;
using test::kWait;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

const std::string kText;  // makes + of C strings a std::string

std::vector<std::string> rules(const std::string& statements, machine::Dim3 block = {64, 1, 1}) {
  return test::rulesOf(statements, {.block = block});
}

/// One barrier object for `count` arrivals.
std::string init(unsigned count) {
  return "setp.eq.u32 %p1, %t, 0;\n@%p1 mbarrier.init.shared.b64 [bar], " + std::to_string(count) +
         ";\nbar.sync 0;\n";
}
std::string waitFor(unsigned parity) {
  return "WAIT:\nmbarrier.try_wait.parity.shared.b64 %p2, [bar], " + std::to_string(parity) +
         ";\n@!%p2 bra WAIT;\n";
}

/// A ring of two slots, each 1 KiB, over %n tiles; `before_read` and `before_refill` are the synchronisation.
std::string ring(const std::string& before_read, const std::string& before_refill) {
  const std::string slot = "and.b32 %r10, %r1, 1;\nshl.b32 %r10, %r10, 10;\nadd.u32 %r11, %s, %r10;\n";
  return "mov.u32 %r1, 0;\nmov.u64 %d1, %g;\ncp.async.cg.shared.global [%s], [%d1], "
         "16;\ncp.async.commit_group;\nLOOP:\n"
         "add.u32 %r2, %r1, 1;\nand.b32 %r12, %r2, 1;\nshl.b32 %r12, %r12, 10;\nadd.u32 %r13, %s, "
         "%r12;\nadd.s64 %d1, %d1, 1024;\n" +
         before_refill + "cp.async.cg.shared.global [%r13], [%d1], 16;\ncp.async.commit_group;\n" + slot +
         before_read +
         "xor.b32 %r14, %r11, 512;\nld.shared.v4.u32 {%r20, %r21, %r22, %r23}, [%r14];\nst.global.u32 "
         "[%out], %r20;\n"
         "mov.u32 %r1, %r2;\nsetp.lt.u32 %p1, %r1, %n;\n@%p1 bra LOOP;\ncp.async.wait_all;\n";
}

TEST(Rules, MissingWait) {
  EXPECT_THAT(rules(kText + kCopy + kCommit + kWait + kReadOwn), IsEmpty());
  EXPECT_THAT(rules(kText + kCopy + kCommit + kReadOwn + kWait), ElementsAre("missing-wait"));
}

TEST(Rules, MissingCommit) {
  EXPECT_THAT(rules(kText + kCopy + "cp.async.wait_all;\n" + kReadOwn), IsEmpty());
  EXPECT_THAT(rules(kText + kCopy + kWait + kReadOwn), ElementsAre("missing-commit"));
}

TEST(Rules, BarrierOnlyHandoff) {
  EXPECT_THAT(rules(kText + kCopy + kCommit + kWait + kSync + kReadOther), IsEmpty());
  EXPECT_THAT(rules(kText + kCopy + kCommit + kSync + kReadOther), ElementsAre("barrier-only-handoff"));
  EXPECT_THAT(rules(kText + kCopy + kCommit + kSync + kWait + kReadOther),
              ElementsAre("barrier-only-handoff"))
      << "the wait comes after the barrier";
}

TEST(Rules, MissingBarrier) {
  EXPECT_THAT(rules(kText + kCopy + kCommit + kWait + kReadOther), ElementsAre("missing-barrier"));
}

TEST(Rules, InsufficientWait) {
  const std::string two =
      kText + kCopy + kCommit + "cp.async.cg.shared.global [%s+2048], [%g+2048], 16;\n" + kCommit;
  EXPECT_THAT(rules(two + "cp.async.wait_group 1;\n" + kReadOwn + kWait), IsEmpty());
  EXPECT_THAT(rules(two + "cp.async.wait_group 2;\n" + kReadOwn + kWait), ElementsAre("insufficient-wait"));
}

TEST(Rules, PrematureOverwrite) {
  const std::string hand_over = "cp.async.wait_group 1;\nbar.sync 0;\n";
  EXPECT_THAT(rules(ring(hand_over, "bar.sync 0;\n")), IsEmpty());
  EXPECT_THAT(rules(ring(hand_over, "")), ElementsAre("premature-overwrite"));
}

TEST(Rules, OverlappingCopies) {
  const std::string other = "cp.async.cg.shared.global [%s], [%g+4096], 16;\n";
  EXPECT_THAT(rules(kText + kCopy + kCommit + kWait + other + kCommit + kWait), IsEmpty());
  EXPECT_THAT(rules(kText + kCopy + other + kCommit + kWait), ElementsAre("overlapping-copies"));
  EXPECT_THAT(rules(kText + "cp.async.cg.shared.global [tile], [%g], 16;\n" + kCommit + kWait, {32, 1, 1}),
              ElementsAre("overlapping-copies"));
}

TEST(Rules, SourceOverwritten) {
  const std::string store = "st.global.u32 [%g], %r1;\n";
  EXPECT_THAT(rules(kText + kCopy + kCommit + kWait + store), IsEmpty());
  EXPECT_THAT(rules(kText + kCopy + kCommit + store + kWait), ElementsAre("source-overwritten"));
}

TEST(Rules, MisalignedCopy) {
  EXPECT_THAT(rules(kText + "cp.async.ca.shared.global [%s+8], [%g+8], 8;\n" + kCommit + kWait), IsEmpty());
  EXPECT_THAT(rules(kText + "cp.async.ca.shared.global [%s+4], [%g+8], 8;\n" + kCommit + kWait),
              ElementsAre("misaligned-copy"));
}

TEST(Rules, DivergentProtocol) {
  EXPECT_THAT(rules("setp.lt.u32 %p1, %t, 32;\n@%p1 bra END;\nbar.sync 1, 32;\nEND:"), IsEmpty())
      << "whole warps may skip it";
  EXPECT_THAT(rules("setp.lt.u32 %p1, %t, 16;\n@%p1 bra END;\nbar.sync 1, 32;\nEND:\nbar.sync 0;"),
              ::testing::Contains("divergent-protocol"));
}

TEST(Rules, LeakedCopy) {
  EXPECT_THAT(rules(kText + kCopy + kCommit + kWait), IsEmpty());
  EXPECT_THAT(rules(kText + kCopy + kCommit), ElementsAre("leaked-copy"));
  EXPECT_THAT(rules(kText + kCopy + kCommit + "st.shared.u32 [%s], %r1;\n"), ElementsAre("leaked-copy"));
}

TEST(Rules, ArrivalCountMismatch) {
  EXPECT_THAT(rules(init(64) + "mbarrier.arrive.shared.b64 _, [bar];\n" + waitFor(0)), IsEmpty());
  EXPECT_THAT(rules(init(65) + "mbarrier.arrive.shared.b64 _, [bar];\n" + waitFor(0)),
              ElementsAre("arrival-count-mismatch"));
  EXPECT_THAT(rules("bar.sync 1, 96;"), ElementsAre("arrival-count-mismatch"));
}

TEST(Rules, RoundOfArrivalsAloneIsAWarning) {
  const std::string first_waits = "setp.eq.u32 %p1, %w, 0;\n@%p1 bra FIRST;\nbar.arrive 1, 64;\nbra END;\nFIRST:\nbar.sync 1, 64;\nEND:";
  EXPECT_THAT(rules(first_waits), IsEmpty());
  EXPECT_THAT(rules("setp.eq.u32 %p1, %w, 0;\n@%p1 bar.arrive 1, 64;"), IsEmpty()) << "the round stays open";
  const std::vector<Diagnosis> all = test::run("bar.arrive 1, 64;", {.block = {64, 1, 1}}).diagnoses();
  ASSERT_THAT(all, SizeIs(1));
  EXPECT_EQ(all[0].finding.rule, "arrival-count-mismatch");
  EXPECT_EQ(all[0].finding.severity, Severity::kWarning);
  EXPECT_THAT(all[0].finding.message, HasSubstr("the 64 threads that barrier 1 counts have all only arrived"));
}

TEST(Rules, CopiesOfNullPointers) {
  const std::string null = "mov.u64 %d1, 0;\n";
  EXPECT_THAT(rules(null + "cp.async.cg.shared.global [%s], [%d1], 16, 0;\n" + kCommit + kWait), IsEmpty()) << "nothing is read";
  EXPECT_THAT(rules(null + "cp.async.cg.shared.global [%s], [%d1], 16;\n" + kCommit + kWait), ElementsAre("wrong-space"));
  EXPECT_THAT(rules(null + "add.u64 %d1, %d1, 4096;\ncp.async.cg.shared.global [%s], [%d1], 16;\n" + kCommit + kWait),
              ElementsAre("wrong-space"));
  EXPECT_THAT(rules(kText + "mov.u32 %r1, 0;\ncp.async.cg.shared.global [%r1], [%g], 16;\n" + kCommit + kWait), ElementsAre("wrong-space"));
}

TEST(Rules, UninitializedBarrier) {
  EXPECT_THAT(rules("setp.eq.u32 %p1, %t, 0;\n@%p1 mbarrier.init.shared.b64 [bar], "
                    "64;\nmbarrier.arrive.shared.b64 _, [bar];\n" +
                    waitFor(0)),
              ElementsAre("uninitialized-barrier"));
}

TEST(Rules, Hang) {
  EXPECT_THAT(rules("setp.ge.u32 %p1, %t, 32;\n@%p1 ret;\nbar.sync 0;"), IsEmpty())
      << "exited threads are not waited for";
  EXPECT_THAT(rules("setp.ge.u32 %p1, %t, 32;\n@%p1 ret;\nbar.sync 0, 64;"), ElementsAre("hang"));
}

TEST(Rules, PhaseRace) {
  // The copies of warp 1 arrive at a barrier whose phase the copies of warp 0 have completed already.
  EXPECT_THAT(rules(init(64) + kCopy + "cp.async.mbarrier.arrive.noinc.shared.b64 [bar];\n" + waitFor(0) +
                    kReadOther),
              IsEmpty());
  EXPECT_THAT(rules(init(32) + kCopy + "cp.async.mbarrier.arrive.noinc.shared.b64 [bar];\n" + waitFor(0) +
                    kReadOther),
              ::testing::Contains("phase-race"));
}

TEST(Rules, TrackedCopyOfABarrierThatTheReaderDoesNotWaitFor) {
  const std::string track = "cp.async.mbarrier.arrive.noinc.shared.b64 [bar];\n";
  const std::string second = "@%p1 mbarrier.init.shared.b64 [bar+8], 64;\nbar.sync 0;\nmbarrier.arrive.shared.b64 _, [bar+8];\n";
  const std::string wait_second = "AGAIN:\nmbarrier.try_wait.parity.shared.b64 %p2, [bar+8], 0;\n@!%p2 bra AGAIN;\n";
  EXPECT_THAT(rules(init(64) + kCopy + track + kReadOwn), ElementsAre("missing-wait")) << "no wait at all";
  EXPECT_THAT(rules(init(64) + second + kCopy + track + wait_second + kReadOwn), ElementsAre("missing-wait"));
}

TEST(Rules, BulkStoreOfATileThatOthersUpdateInPlace) {
  const std::string in_place = kText + kCopy + kCommit + kWait + kSync + "ld.shared.u32 %r1, [%s];\nadd.u32 %r1, %r1, 1;\n" +
                               "st.shared.u32 [%s], %r1;\nfence.proxy.async.shared::cta;\n";
  const std::string store = "setp.eq.u32 %p1, %t, 0;\n@%p1 cp.async.bulk.global.shared::cta.bulk_group [%out], [tile], 1024;\n"
                            "cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;\n";
  EXPECT_THAT(rules(in_place + kSync + store), IsEmpty());
  EXPECT_THAT(rules(in_place + store), ElementsAre("missing-barrier"));
}

// --- what is no finding ---

TEST(Clean, SoftwarePipelineWithDeeperPrologueAndEmptyTailGroups) {
  const std::string copy2 = "cp.async.cg.shared.global [%s+1024], [%g+1024], 16;\n";
  EXPECT_THAT(rules(kText + kCopy + kCommit + copy2 + kCommit + "cp.async.wait_group 1;\n" + kSync +
                    kReadOther + kCommit + "cp.async.wait_group 1;\n" + kSync + kReadOther),
              IsEmpty());
}

TEST(Clean, OneBarrierAnIterationServesBothDirections) {
  // Read after the barrier, refill of the other slot after the same barrier.
  EXPECT_THAT(rules(ring("cp.async.wait_group 1;\nbar.sync 0;\n", "bar.sync 0;\n")), IsEmpty());
}

TEST(Clean, WarpsUseTheirOwnSlotsWithAWarpBarrierOnly) {
  EXPECT_THAT(rules(kText + kCopy + kCommit + kWait +
                    "bar.warp.sync 0xffffffff;\nxor.b32 %r9, %s, 16;\nld.shared.u32 %r7, [%r9];\n"),
              IsEmpty());
}

TEST(Clean, OrdinaryStoresThatMeetAreLeftToOtherTools) {
  EXPECT_THAT(rules("st.shared.u32 [tile], %r1;\n"), IsEmpty());
}

// --- what a finding says ---

TEST(FindingText, NamesBothThreadsThePlaceAndThePartner) {
  const test::Ran ran = test::run(kText + kCopy + kCommit + kSync + kReadOther, {.block = {64, 1, 1}});
  const std::vector<Diagnosis> all = ran.diagnoses();
  ASSERT_THAT(all, SizeIs(1));
  const Finding& finding = all[0].finding;
  EXPECT_EQ(finding.severity, Severity::kError);
  EXPECT_THAT(finding.message, HasSubstr("'tile"));
  ASSERT_FALSE(finding.related.empty());
  EXPECT_THAT(finding.related[0].message, HasSubstr("the copy is issued here by thread"));
  EXPECT_EQ(finding.witness.launch, "test");
  EXPECT_EQ(finding.witness.iteration, 1u);
  EXPECT_NE(finding.witness.first_thread, finding.witness.second_thread);
  ASSERT_GE(finding.witness.steps.size(), 3u);
  EXPECT_EQ(finding.witness.steps.front().text, "issues a copy into group 0");
  EXPECT_EQ(finding.witness.steps[1].text, "commits group 0");
  EXPECT_EQ(finding.witness.steps.back().text, "reads");
}

TEST(FindingText, InsufficientWaitSaysWhatWouldDo) {
  const test::Ran ran =
      test::run(kText + kCopy + kCommit + "cp.async.cg.shared.global [%s+2048], [%g+2048], 16;\n" + kCommit +
                "cp.async.wait_group 2;\n" + kReadOwn + kWait);
  const std::vector<Diagnosis> all = ran.diagnoses();
  ASSERT_THAT(all, SizeIs(1));
  EXPECT_THAT(all[0].finding.message, HasSubstr("lets 2 groups stay pending; 1 would do"));
}

TEST(FindingText, OneCauseIsOneFinding) {
  // Every thread misses the same wait; two reads follow.
  const test::Ran ran =
      test::run(kText + kCopy + kCommit + kReadOwn + kReadOwn + kWait, {.block = {256, 1, 1}});
  std::set<std::string> messages;
  for (const Diagnosis& diagnosis : ran.diagnoses()) messages.insert(diagnosis.finding.rule);
  EXPECT_THAT(messages, ElementsAre("missing-wait"));
}

TEST(FindingText, SameRunGivesTheSameFindings) {
  const std::string statements = ring("bar.sync 0;\n", "");
  const auto texts = [&] {
    std::vector<std::string> list;
    for (const Diagnosis& diagnosis : test::run(statements, {.block = {64, 1, 1}}).diagnoses())
      list.push_back(diagnosis.finding.message);
    return list;
  };
  EXPECT_EQ(texts(), texts());
}

// --- hangs say who waits for what ---

std::vector<Finding> findings(const std::string& statements) {
  std::vector<Finding> list;
  for (const Diagnosis& diagnosis : test::run(statements, {.block = {64, 1, 1}}).diagnoses())
    list.push_back(diagnosis.finding);
  return list;
}

TEST(HangText, NamedBarrierCountsThreads) {
  const auto list = findings("setp.ge.u32 %p1, %t, 32;\n@%p1 ret;\nbar.sync 1, 64;");
  ASSERT_THAT(list, SizeIs(1));
  EXPECT_THAT(
      list[0].message,
      HasSubstr(
          "barrier 1 waits for 64 threads, but only 32 arrive: 32 threads of the block have already left"));
}

TEST(HangText, MbarrierCountsArrivalsAndShowsItsInitialisation) {
  const auto list = findings(init(65) + "mbarrier.arrive.shared.b64 _, [bar];\n" + waitFor(0));
  ASSERT_THAT(list, SizeIs(1));
  EXPECT_THAT(list[0].message, HasSubstr("64 threads wait for phase 0 of the mbarrier 'bar"));
  EXPECT_THAT(list[0].message, HasSubstr("needs 65 arrivals and gets 64"));
  ASSERT_FALSE(list[0].related.empty());
  EXPECT_THAT(list[0].related[0].message, HasSubstr("initialised for 65 arrivals"));
}

TEST(HangText, BytesThatNeverComeAreNamed) {
  const auto list = findings(init(64) + "mbarrier.arrive.expect_tx.shared.b64 _, [bar], 16;\n" + waitFor(0));
  ASSERT_THAT(list, SizeIs(1));
  EXPECT_EQ(list[0].rule, "tx-count-mismatch");
  EXPECT_THAT(list[0].message, HasSubstr("1024 announced bytes never arrive"));
}

TEST(HangText, CopyArrivalsWithoutNoincAreExplained) {
  const auto list = findings(init(64) + kCopy + "cp.async.mbarrier.arrive.shared.b64 [bar];\n" + waitFor(0));
  ASSERT_THAT(list, SizeIs(1));
  const auto explains = [](const Related& related) {
    return related.message.find(".noinc") != std::string::npos;
  };
  EXPECT_TRUE(std::any_of(list[0].related.begin(), list[0].related.end(), explains));
}

TEST(HangText, ThreadsThatWaitForEachOtherAreAllShown) {
  const auto list = findings(
      "setp.eq.u32 %p1, %w, 0;\n@%p1 bra FIRST;\nbar.sync 2, 64;\nbra END;\nFIRST:\nbar.sync 1, 64;\nEND:");
  ASSERT_THAT(list, SizeIs(2));
  EXPECT_THAT(list[0].related.back().message, HasSubstr("32 threads wait here meanwhile"));
}

// --- the table ---

TEST(RuleTable, NamesAreFoundAndOthersAreNot) {
  for (const RuleInfo& rule : diagnose::rules()) EXPECT_EQ(findRule(rule.name), &rule);
  EXPECT_EQ(findRule("missing-waits"), nullptr);
  EXPECT_EQ(findRule(""), nullptr);
}

}  // namespace
}  // namespace handoff::diagnose
