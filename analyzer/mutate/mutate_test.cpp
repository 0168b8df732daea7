// SPDX-License-Identifier: Apache-2.0
// Which mutants a kernel has, and what becomes of them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <set>

#include "analyzer/mutate/reads_from.h"
#include "analyzer/mutate/score.h"
#include "analyzer/test_support/ptx_kernel.h"

namespace handoff::mutate {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

enum Wanted { kScores, kJobs, kJobsAndControls };

std::vector<KernelScore> scoresOf(const std::string& statements, Wanted wanted = kScores, const Selection& selection = {},
                                  const std::string& launch = "block=64 grid=1") {
  frontend::Unit unit;
  unit.producer = frontend::Producer::kPtxFile;
  unit.module = std::move(*test::parseModule(test::kernelText(statements)));
  explore::Options options;
  options.launches = {launch};
  options.makes_jobs = wanted != kScores;
  options.makes_controls = wanted == kJobsAndControls;
  return score(unit, options, [](std::vector<std::function<void()>> jobs) {
    for (const std::function<void()>& job : jobs) job();
  }, selection);
}

/// "drop-wait: killed".
std::vector<std::string> fatesOf(const std::string& statements) {
  std::vector<std::string> fates;
  for (const KernelScore& kernel : scoresOf(statements)) {
    EXPECT_EQ(kernel.skipped, "");
    for (const Scored& scored : kernel.mutants)
      fates.push_back(std::string(operators()[scored.mutant.op].name) + ": " + std::string(toString(scored.fate)));
  }
  return fates;
}

std::set<std::string> operatorsAt(const std::string& statements) {
  const test::Ran ran = test::run(statements);
  const explore::SourceText text({});
  const explore::Statements copies(ran.program, "", text);
  const ptx::Cfg cfg(ran.program.function);
  std::set<std::string> names;
  for (const Mutant& mutant : mutantsOf({ran.program, copies, cfg, {}})) names.insert(std::string(operators()[mutant.op].name));
  return names;
}

/// A read whose value goes nowhere is no race.
const std::string kUse = "st.global.u32 [%out], %r60;\n";
const std::string kHandOver = std::string(test::kCopy) + test::kCommit + test::kWait + test::kSync + test::kReadOther + kUse;

TEST(Score, EveryStepOfAHandOverIsNeeded) {
  EXPECT_THAT(fatesOf(kHandOver), ElementsAre("drop-commit: killed", "early-commit: killed", "drop-wait: killed", "weaken-wait: killed",
                                              "late-wait: killed", "drop-barrier: killed", "warp-barrier: killed",
                                              "move-barrier: killed", "move-barrier: killed"));
}

TEST(Score, OneOfTwoBarriersInARowIsNot) {
  EXPECT_THAT(fatesOf(std::string(test::kCopy) + test::kCommit + test::kWait + test::kSync + test::kSync + test::kReadOther + kUse),
              Contains("drop-barrier: equivalent").Times(2));
}

TEST(Score, AMutantWithoutRacesWhoseReadsSeeOtherWritesSurvives) {
  const std::string statements = std::string("setp.lt.u32 %p1, %t, 16;\n@%p1 ") + test::kCopy + test::kCommit + test::kWait + test::kReadOwn + kUse;
  EXPECT_THAT(fatesOf(statements), Contains("copy-predicate: survived"));
}

TEST(Score, AReadWhoseValueGoesNowhereMaySeeAnotherWrite) {
  const std::string statements = std::string("setp.lt.u32 %p1, %t, 16;\n@%p1 ") + test::kCopy + test::kCommit + test::kWait + test::kReadOwn;
  EXPECT_THAT(fatesOf(statements), Contains("copy-predicate: equivalent").Times(2));
}

TEST(Score, AMutantThatLeavesSharedMemoryIsNoKernel) {
  const std::string statements =
      "setp.lt.u32 %p1, %t, 16;\nmov.u32 %r20, tile;\nmad.lo.u32 %r20, %t, 1024, %r20;\n@%p1 cp.async.cg.shared.global [%r20], [%g], 16;\n"
      "cp.async.wait_all;\n@%p1 ld.shared.u32 %r60, [%r20];\n" + kUse;
  EXPECT_THAT(fatesOf(statements), Contains("copy-predicate: outside"));
}

TEST(Score, AMutantThatOnlyOtherBlocksFeelIsNotEquivalent) {
  // Blocks behind the work leave at once; without that the last block does it, too.
  const std::string statements = std::string("mov.u32 %r50, %ctaid.x;\nsetp.ne.u32 %p5, %r50, 0;\n@%p5 bra END;\n") + test::kCopy + test::kCommit +
                                 test::kWait + test::kSync + test::kReadOther + kUse + "END:\n";
  const auto fateOf = [&](const std::string& launch) {
    const std::vector<KernelScore> scores = scoresOf(statements, kScores, {{"copy-predicate"}}, launch);
    const std::vector<Scored>& mutants = scores.at(0).mutants;
    const auto it = std::find_if(mutants.begin(), mutants.end(), [](const Scored& scored) {
      return scored.mutant.edit.description.starts_with("without the condition");
    });
    return it == mutants.end() ? Fate::kUnproved : it->fate;
  };
  EXPECT_EQ(fateOf("block=64 grid=1"), Fate::kEquivalent);
  EXPECT_EQ(fateOf("block=64 grid=4"), Fate::kSurvived);
}

/// Data decide on the copy: the kernel itself is no more than bounded.
const std::string kCopySome = std::string("ld.volatile.global.u32 %r50, [%in];\nsetp.eq.u32 %p5, %r50, 0;\n@%p5 bra SKIP;\n") + test::kCopy + "SKIP:\n" +
                              test::kCommit + test::kWait + test::kSync + test::kSync + test::kReadOther + kUse;

TEST(Score, WhatIsWrongOnAnAssumedPathOnlyIsNoted) { EXPECT_THAT(fatesOf(kCopySome), Contains("drop-wait: noted")); }

TEST(Score, EquivalentAsFarAsTheKernelItselfIsProved) {
  EXPECT_THAT(fatesOf(kCopySome), Contains("drop-barrier: equivalent").Times(2));
  const std::vector<KernelScore> scores = scoresOf(kCopySome);
  ASSERT_EQ(scores.size(), 1u);
  for (const Scored& scored : scores[0].mutants) {
    if (operators()[scored.mutant.op].name != "drop-barrier") continue;
    EXPECT_THAT(scored.why, HasSubstr("as far as the kernel itself is proved"));
  }
}

TEST(Score, JobsCompareAMutantWithTheKernel) {
  const std::vector<KernelScore> scores = scoresOf(kHandOver, kJobs);
  ASSERT_EQ(scores.size(), 1u);
  for (const Scored& scored : scores[0].mutants) {
    ASSERT_THAT(scored.jobs, testing::Not(IsEmpty())) << operators()[scored.mutant.op].name;
    const auto& [rule, job] = scored.jobs[0];
    EXPECT_EQ(rule, scored.rule);
    EXPECT_EQ(job->manifest["reference"].text(), "repaired");
    EXPECT_EQ(job->manifest["repair"].text(), "the kernel before its mutation");
    EXPECT_NE(job->files.at("plain.base.ptx"), job->files.at("plain.repaired.ptx"));
  }
}

TEST(Score, ControlsPerturbAnEquivalentMutantAndCompareItWithTheKernel) {
  const std::string twice = std::string(test::kCopy) + test::kCommit + test::kWait + test::kSync + test::kSync + test::kReadOther + kUse;
  unsigned controls = 0;
  const std::vector<KernelScore> scores = scoresOf(twice, kJobsAndControls);
  for (const Scored& scored : scores.at(0).mutants) {
    ASSERT_EQ(scored.jobs.size(), scored.fate == Fate::kKilled || scored.fate == Fate::kEquivalent ? 1u : 0u);
    if (scored.fate != Fate::kEquivalent) continue;
    ++controls;
    const auto& [rule, job] = scored.jobs[0];
    EXPECT_EQ(rule, "none");
    EXPECT_TRUE(job->manifest["is_control"].boolean());
    EXPECT_EQ(job->manifest["reference"].text(), "repaired");
    for (const json::Value& variant : job->manifest["variants"].array())
      EXPECT_NE(job->files.at(variant["base"].text()), job->files.at(variant["repaired"].text())) << variant["name"].text();
  }
  EXPECT_GE(controls, 2u);
}

TEST(Score, PartsShareTheMutants) {
  const auto descriptionsOf = [](const Selection& selection) {
    std::vector<std::string> descriptions;
    const std::vector<KernelScore> scores = scoresOf(kHandOver, kScores, selection);
    for (const Scored& scored : scores.at(0).mutants)
      descriptions.push_back(std::to_string(scored.number) + ": " + scored.mutant.edit.description);
    return descriptions;
  };
  const std::vector<std::string> all = descriptionsOf({}), odd = descriptionsOf({{}, 0, 2}), even = descriptionsOf({{}, 1, 2});
  ASSERT_EQ(odd.size() + even.size(), all.size());
  for (std::size_t i = 0; i < all.size(); ++i) EXPECT_EQ(all[i], (i % 2 == 0 ? odd : even)[i / 2]);
  EXPECT_THAT(descriptionsOf({{"drop-wait"}}), ElementsAre(HasSubstr("3: without")));
}

TEST(Score, AKernelWithFindingsHasNoMutants) {
  const std::vector<KernelScore> scores = scoresOf(std::string(test::kCopy) + test::kCommit + test::kSync + test::kReadOther + kUse);
  ASSERT_EQ(scores.size(), 1u);
  EXPECT_EQ(scores[0].skipped, "it has findings of its own");
  EXPECT_THAT(scores[0].mutants, IsEmpty());
}

TEST(Score, AKernelThatCopiesNothingHasNone) {
  const std::vector<KernelScore> scores = scoresOf("st.shared.u32 [%s], %t;\nbar.sync 0;\n");
  ASSERT_EQ(scores.size(), 1u);
  EXPECT_THAT(scores[0].skipped, HasSubstr("no asynchronous operations"));
}

TEST(Operators, AConditionAroundACopyIsTakenAwayWhereTheCodeBranches) {
  const std::string statements = std::string("setp.lt.u32 %p1, %t, 16;\n@%p1 bra SKIP;\n") + test::kCopy + "SKIP:\n" + test::kCommit;
  EXPECT_THAT(operatorsAt(statements), Contains("copy-predicate"));
  EXPECT_THAT(operatorsAt(std::string(test::kCopy) + test::kCommit), testing::Not(Contains("copy-predicate")));
}

struct Sample {
  const char* op;
  const char* statements;
};

class EveryOperator : public testing::TestWithParam<Sample> {};

TEST_P(EveryOperator, HasAStatementThatItChanges) { EXPECT_THAT(operatorsAt(GetParam().statements), Contains(GetParam().op)); }

INSTANTIATE_TEST_SUITE_P(
    Samples, EveryOperator,
    testing::Values(Sample{"read-wait", "cp.async.bulk.wait_group 0;\n"}, Sample{"drop-warp-barrier", "bar.warp.sync -1;\n"},
                    Sample{"drop-cluster-barrier", "barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;\n"},
                    Sample{"weaken-cluster-barrier", "barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.aligned;\n"},
                    Sample{"drop-arrive", "mbarrier.arrive.shared.b64 _, [bar];\n"},
                    Sample{"arrive-count", "mbarrier.arrive.shared.b64 _, [bar];\n"},
                    Sample{"copy-arrive", "cp.async.mbarrier.arrive.noinc.shared.b64 [bar];\n"},
                    Sample{"weaken-arrive", "mbarrier.arrive.release.cta.shared.b64 _, [bar];\n"},
                    Sample{"early-arrive", "ld.shared.u32 %r1, [%s];\nmbarrier.arrive.shared.b64 _, [bar];\n"},
                    Sample{"init-count", "mbarrier.init.shared.b64 [bar], 4;\n"},
                    Sample{"expect-bytes", "mbarrier.arrive.expect_tx.shared.b64 _, [bar], 64;\n"},
                    Sample{"flip-parity", "mbarrier.try_wait.parity.shared.b64 %p1, [bar], 0;\n"},
                    Sample{"drop-poll", "mbarrier.test_wait.parity.shared.b64 %p1, [bar], 0;\n"},
                    Sample{"weaken-poll", "mbarrier.try_wait.parity.acquire.cta.shared.b64 %p1, [bar], 0;\n"},
                    Sample{"drop-fence", "fence.proxy.async;\n"}),
    [](const auto& info) {
      std::string name = info.param.op;
      std::replace(name.begin(), name.end(), '-', '_');
      return name;
    });

TEST(ReadsFrom, ToldApartByTheWriteThatIsSeen) {
  const auto readsOf = [](const std::string& statements) -> std::optional<std::vector<Seen>> {
    const test::Ran ran = test::run(statements);
    std::vector<std::uint32_t> origin(ran.program.function.instructions.size());
    std::iota(origin.begin(), origin.end(), 0);
    return readsFrom(ran.program, ran.launch, origin).seen;
  };
  const std::string read = "ld.shared.u32 %r1, [%s];\n";
  const auto first = readsOf("st.shared.u32 [%s], %t;\nst.shared.u32 [%s+4], %t;\n" + read);
  ASSERT_TRUE(first);
  EXPECT_EQ(first, readsOf("st.shared.u32 [%s], %t;\nst.shared.u32 [%s+8], %t;\n" + read));
  EXPECT_NE(first, readsOf("st.shared.u32 [%s+4], %t;\nst.shared.u32 [%s], %t;\n" + read));
}

TEST(ReadsFrom, UnknownForARunThatDoesNotEnd) {
  const test::Ran ran = test::run("mbarrier.init.shared.b64 [bar], 1;\nWAIT:\nmbarrier.try_wait.parity.shared.b64 %p1, [bar], 0;\n@!%p1 bra WAIT;\n");
  EXPECT_FALSE(readsFrom(ran.program, ran.launch, {}).seen);
}

TEST(SlotBytes, AreTheDistanceOfTheSlotsThatACopyFills) {
  const test::Ran ran = test::run(
      "mov.u32 %r1, 0;\nLOOP:\nshl.b32 %r2, %r1, 10;\nadd.u32 %r2, %r2, %s;\ncp.async.cg.shared.global [%r2], [%g], 16;\n"
      "add.u32 %r1, %r1, 1;\nsetp.lt.u32 %p1, %r1, 3;\n@%p1 bra LOOP;\ncp.async.wait_all;\n");
  const auto slots = slotBytes(ran.program, ran.launch);
  ASSERT_EQ(slots.size(), 1u);
  EXPECT_EQ(slots[0].second, 1024);
}

}  // namespace
}  // namespace handoff::mutate
