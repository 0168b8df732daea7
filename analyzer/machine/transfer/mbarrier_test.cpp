// SPDX-License-Identifier: Apache-2.0
// mbarrier operations as instructions, and the arrivals of copies.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analyzer/test_support/ptx_kernel.h"

namespace handoff::machine {
namespace {

using test::kCommit;
using test::kCopy;
using test::kReadOther;
using test::kSync;
using test::kWait;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

/// Thread 0 initialises the barrier for `count` arrivals; the block synchronises.
std::string init(unsigned count) {
  return "setp.eq.u32 %p1, %t, 0;\n@%p1 mbarrier.init.shared.b64 [bar], " + std::to_string(count) +
         ";\nbar.sync 0;\n";
}

std::string wait(unsigned parity, const std::string& label = "WAIT") {
  return label + ":\nmbarrier.try_wait.parity.shared.b64 %p2, [bar], " + std::to_string(parity) +
         ";\n@!%p2 bra " + label + ";\n";
}

const std::string kStoreOwn = "st.shared.v4.u32 [%s], {%r1, %r2, %r3, %r4};\n";
const std::string kArrive = "mbarrier.arrive.shared.b64 _, [bar];\n";

test::Ran run64(const std::string& statements) { return test::run(statements, {.block = {64, 1, 1}}); }

void expectClean(const test::Ran& ran) {
  EXPECT_THAT(ran.outcome.conflicts, IsEmpty());
  EXPECT_THAT(ran.outcome.misuses, IsEmpty());
  EXPECT_THAT(ran.outcome.stuck, IsEmpty());
  EXPECT_THAT(test::limitsOf(ran), IsEmpty());
}

std::vector<Misuse::Kind> misuses(const test::Ran& ran) {
  std::vector<Misuse::Kind> kinds;
  for (const Misuse& misuse : ran.outcome.misuses) kinds.push_back(misuse.kind);
  return kinds;
}

TEST(MbarrierOrder, ArriveAndWaitHandOverStores) {
  expectClean(run64(init(64) + kStoreOwn + kArrive + wait(0) + kReadOther));
}

TEST(MbarrierOrder, StoreAfterTheArriveIsNotHandedOver) {
  EXPECT_THAT(run64(init(64) + kArrive + kStoreOwn + wait(0) + kReadOther).outcome.conflicts,
              SizeIs(::testing::Ge(1u)));
}

TEST(MbarrierOrder, StateTokenWorksAsParityDoes) {
  expectClean(run64(init(64) + kStoreOwn + "mbarrier.arrive.shared.b64 %d1, [bar];\nWAIT:\n" +
                    "mbarrier.try_wait.shared.b64 %p2, [bar], %d1;\n@!%p2 bra WAIT;\n" + kReadOther));
}

TEST(MbarrierOrder, RelaxedArriveOrdersNothing) {
  EXPECT_THAT(run64(init(64) + kStoreOwn + "mbarrier.arrive.relaxed.cta.shared.b64 _, [bar];\n" + wait(0) +
                    kReadOther)
                  .outcome.conflicts,
              SizeIs(::testing::Ge(1u)));
}

// Made a little earlier, it would have been met, by the phase before the one that is over now.
TEST(MbarrierOrder, AWaitThatIsNotMetMayHaveBeen) {
  const auto peek = [](const std::string& between, unsigned parity) {
    return misuses(run64(init(32) + "setp.ge.u32 %p3, %t, 32;\n@%p3 mbarrier.arrive.shared.b64 _, [bar];\n" + between +
                         "@!%p3 mbarrier.test_wait.parity.shared.b64 %p2, [bar], " + std::to_string(parity) + ";\n"));
  };
  EXPECT_THAT(peek("", 1), ElementsAre(Misuse::Kind::kEarlyWait));
  EXPECT_THAT(peek(kSync, 1), IsEmpty());
  EXPECT_THAT(peek("", 0), IsEmpty());
}

TEST(MbarrierOrder, FreshBarrierLetsTheProducersParityPass) { expectClean(run64(init(64) + wait(1))); }

TEST(MbarrierOrder, TwoPhasesFollowEachOther) {
  expectClean(
      run64(init(64) + kStoreOwn + kArrive + wait(0) + kReadOther + kArrive + wait(1, "AGAIN") + kStoreOwn));
}

TEST(MbarrierOrder, MissingArrivalIsAHang) {
  const test::Ran ran = run64(init(65) + kArrive + wait(0));
  ASSERT_FALSE(ran.outcome.stuck.empty());
  EXPECT_EQ(ran.outcome.stuck[0].kind, Stuck::Kind::kMbarrier);
  EXPECT_EQ(ran.outcome.stuck[0].expected, 65u);
  EXPECT_EQ(ran.outcome.stuck[0].arrived, 64u);
}

TEST(MbarrierOrder, ArriveWithCountIsThatManyArrivals) {
  expectClean(run64(init(64) +
                    "setp.ne.u32 %p3, %lane, 0;\n@%p3 bra WAIT;\nmbarrier.arrive.shared.b64 _, [bar], 32;\n" +
                    wait(0)));
}

TEST(MbarrierOrder, OneOfTooManyArrivalsMightHaveBeenAnother) {
  EXPECT_THAT(misuses(run64(init(63) + kArrive + wait(0))), ElementsAre(Misuse::Kind::kEarlyArrival));
  const std::string tracked = std::string(kCopy) + "cp.async.mbarrier.arrive.noinc.shared.b64 [bar];\n";
  EXPECT_THAT(misuses(run64(init(63) + tracked + wait(0))), ElementsAre(Misuse::Kind::kEarlyArrival));
}

TEST(MbarrierOrder, DroppedThreadsAreNotCountedAgain) {
  expectClean(run64(init(64) +
                    "setp.eq.u32 %p3, %w, 1;\n@%p3 mbarrier.arrive_drop.shared.b64 _, [bar];\n@%p3 ret;\n" +
                    kArrive + wait(0) + kArrive + wait(1, "AGAIN")));
}

TEST(MbarrierOrder, ExpectedBytesThatNeverComeAreAHang) {
  const test::Ran ran = run64(init(64) + "mbarrier.arrive.expect_tx.shared.b64 _, [bar], 16;\n" + wait(0));
  ASSERT_FALSE(ran.outcome.stuck.empty());
  EXPECT_EQ(ran.outcome.stuck[0].transactions, 64 * 16);
}

TEST(MbarrierOrder, CompletedBytesEndThePhase) {
  expectClean(
      run64(init(1) +
            "setp.ne.u32 %p3, %t, 0;\n@%p3 bra WAIT;\nmbarrier.arrive.expect_tx.shared.b64 _, [bar], 16;\n" +
            "mbarrier.complete_tx.relaxed.cta.shared.b64 [bar], 16;\n" + wait(0)));
}

TEST(MbarrierOrder, ConditionalPollMayFailOnceAndTheRestGoesOn) {
  // A single test_wait may return false; the code must not rely on either answer.
  expectClean(run64(init(64) + "mbarrier.test_wait.parity.shared.b64 %p3, [bar], 0;\n" + kArrive + wait(0)));
}

// --- life ---

TEST(MbarrierLife, UseWithoutInitIsAMisuse) {
  EXPECT_THAT(misuses(run64(kArrive)), ElementsAre(Misuse::Kind::kUninitializedBarrier));
}

TEST(MbarrierLife, InitWithoutABarrierIsUnordered) {
  EXPECT_THAT(misuses(run64("setp.eq.u32 %p1, %t, 0;\n@%p1 mbarrier.init.shared.b64 [bar], 64;\n" + kArrive)),
              ElementsAre(Misuse::Kind::kBarrierInitUnordered));
}

TEST(MbarrierLife, InitiatorItselfNeedsNoBarrier) {
  expectClean(test::run("setp.ne.u32 %p1, %t, 0;\n@%p1 ret;\nmbarrier.init.shared.b64 [bar], 1;\n" + kArrive +
                        wait(0)));
}

TEST(MbarrierLife, SecondInitWithoutInvalIsAMisuse) {
  EXPECT_THAT(misuses(run64(init(64) + "@%p1 mbarrier.init.shared.b64 [bar], 64;\n")),
              ElementsAre(Misuse::Kind::kReinitialized));
}

TEST(MbarrierLife, SecondInitOfAnIdleOneDoesNotHideThatOfABusyOne) {
  const test::Ran ran = test::run("mov.u32 %r1, 0;\nLOOP:\nsetp.eq.u32 %p2, %r1, 2;\n@%p2 mbarrier.arrive.shared.b64 _, [bar];\n"
                                  "mbarrier.init.shared.b64 [bar], 2;\nadd.u32 %r1, %r1, 1;\nsetp.lt.u32 %p3, %r1, 4;\n"
                                  "@%p3 bra LOOP;\n",
                                  {.block = {1, 1, 1}});
  std::vector<std::uint64_t> idle;
  for (const Misuse& misuse : ran.outcome.misuses) {
    if (misuse.kind == Misuse::Kind::kReinitialized) idle.push_back(misuse.value);
  }
  EXPECT_THAT(idle, ElementsAre(1u, 0u));
}

TEST(MbarrierLife, InvalThenInitIsASecondLife) {
  expectClean(run64(init(64) + kArrive + wait(0) + kSync +
                    "@%p1 mbarrier.inval.shared.b64 [bar];\n@%p1 mbarrier.init.shared.b64 [bar], " + "64;\n" +
                    kSync + kArrive + wait(0, "AGAIN")));
}

TEST(MbarrierLife, UseAfterInvalIsAMisuse) {
  EXPECT_THAT(misuses(run64(init(64) + kSync + "@%p1 mbarrier.inval.shared.b64 [bar];\n" + kSync + kArrive)),
              ElementsAre(Misuse::Kind::kUninitializedBarrier));
}

TEST(MbarrierLife, EndsOnlyWhenNoOtherWarpMayStillUseIt) {
  const std::string end = "setp.eq.u32 %p3, %t, 32;\n@%p3 mbarrier.inval.shared.b64 [bar];\n";
  EXPECT_THAT(misuses(run64(init(64) + kArrive + wait(0) + end)), ElementsAre(Misuse::Kind::kBarrierInUse));
  expectClean(run64(init(64) + kArrive + wait(0) + kSync + end));
}

TEST(MbarrierLife, BeginsAnewOnlyWhenNoOtherWarpMayStillUseIt) {
  const std::string again = "setp.eq.u32 %p3, %t, 32;\n@%p3 mbarrier.init.shared.b64 [bar], 64;\n";
  EXPECT_THAT(misuses(run64(init(64) + kArrive + wait(0) + again)),
              ElementsAre(Misuse::Kind::kReinitialized, Misuse::Kind::kBarrierInUse));
  EXPECT_THAT(misuses(run64(init(64) + kArrive + wait(0) + kSync + again)), ElementsAre(Misuse::Kind::kReinitialized));
}

TEST(MbarrierLife, LiesAtAMultipleOfEight) {
  EXPECT_THAT(misuses(test::run("setp.ne.u32 %p1, %t, 0;\n@%p1 ret;\nmbarrier.init.shared.b64 [bar+4], 1;\n")),
              ElementsAre(Misuse::Kind::kMisalignedBarrier));
}

TEST(MbarrierLife, CountsAtLeastOneArrival) {
  EXPECT_THAT(misuses(run64(init(0))), ElementsAre(Misuse::Kind::kBadArrivalCount));
  EXPECT_THAT(misuses(run64(init(1 << 20))), ElementsAre(Misuse::Kind::kBadArrivalCount));
  expectClean(run64(init((1 << 20) - 1)));
}

TEST(MbarrierLife, TooLargeACountOverflowsThePhase) {
  EXPECT_THAT(misuses(run64(init(1) + "@%p1 mbarrier.arrive.shared.b64 _, [bar], 2;\n")),
              ElementsAre(Misuse::Kind::kOverArrival));
}

TEST(MbarrierLife, BarriersSideBySideAreDifferentObjects) {
  expectClean(
      run64("setp.eq.u32 %p1, %t, 0;\n@%p1 mbarrier.init.shared.b64 [bar], 1;\n@%p1 mbarrier.init.shared.b64 "
            "[bar+8], 64;\n" +
            std::string(kSync) + "mbarrier.arrive.shared.b64 _, [bar+8];\nWAIT:\n" +
            "mbarrier.try_wait.parity.shared.b64 %p2, [bar+8], 0;\n@!%p2 bra WAIT;\n"));
}

// --- copies that arrive ---

const std::string kCopyArrive = "cp.async.mbarrier.arrive.shared.b64 [bar];\n";
const std::string kCopyArriveNoinc = "cp.async.mbarrier.arrive.noinc.shared.b64 [bar];\n";

TEST(CopyArrive, NoincCountsAsOneArrivalAThreadAndHandsOverItsCopies) {
  expectClean(run64(init(64) + kCopy + kCopyArriveNoinc + wait(0) + kReadOther));
}

TEST(CopyArrive, NoincThatTheCountDoesNotIncludeTurnsThePhaseTooEarly) {
  // 32 arrivals expected: the copies of one warp alone complete the phase.
  const test::Ran ran = run64(init(32) + kCopy + kCopyArriveNoinc + wait(0) + kReadOther);
  EXPECT_FALSE(ran.outcome.conflicts.empty());
}

TEST(CopyArrive, WithoutNoincItIsNetZero) {
  const test::Ran ran = run64(init(64) + kCopy + kCopyArrive + wait(0));
  ASSERT_FALSE(ran.outcome.stuck.empty());
  EXPECT_EQ(ran.outcome.stuck[0].arrived, 0u);
}

TEST(CopyArrive, WithoutNoincAThreadsOwnArrivalFollows) {
  expectClean(run64(init(64) + kCopy + kCopyArrive + kArrive + wait(0) + kReadOther));
}

TEST(CopyArrive, WithoutNoincAnotherThreadsArrivalHasToKnowOfIt) {
  // Warp 1 copies, and only warp 0 is counted.
  const auto by = [](const std::string& between) {
    return run64(init(32) + "setp.lt.u32 %p3, %t, 32;\n@%p3 bra SECOND;\n" + kCopy + kCopyArrive + "SECOND:\n" + between +
                 "@%p3 mbarrier.arrive.shared.b64 _, [bar];\n" + wait(0) + kReadOther);
  };
  EXPECT_THAT(misuses(by("")), ElementsAre(Misuse::Kind::kLateExpect));
  EXPECT_THAT(misuses(by(kSync)), IsEmpty());
}

TEST(CopyArrive, WhoKnowsItExecutedDoesNotKnowItMade) {
  // Behind the barrier every thread has executed its arrival; but it comes when the copies are there, maybe in the next phase.
  const auto by = [](const std::string& wait_or_not) {
    return run64(init(64) + kCopy + kCopyArriveNoinc + wait_or_not + kSync + kArrive + wait(1));
  };
  EXPECT_THAT(misuses(by("")), ElementsAre(Misuse::Kind::kEarlyArrival, Misuse::Kind::kEarlyWait));
  expectClean(by(wait(0, "FIRST")));
}

TEST(CopyArrive, CopiesAfterTheArriveAreNotCovered) {
  EXPECT_FALSE(run64(init(64) + kCopyArriveNoinc + kCopy + wait(0) + kReadOther).outcome.conflicts.empty());
}

TEST(CopyArrive, OrdinaryStoresAreNotReleasedByIt) {
  EXPECT_FALSE(
      run64(init(64) + kStoreOwn + kCopyArriveNoinc + wait(0) + kReadOther).outcome.conflicts.empty());
}

TEST(CopyArrive, CommittedOrNotMakesNoDifference) {
  expectClean(run64(init(64) + kCopy + kCommit + kCopyArriveNoinc + wait(0) + kReadOther));
}

TEST(CopyArrive, ArrivalOfAThreadDoesNotCompleteItsCopies) {
  EXPECT_FALSE(
      run64(init(64) + kCopy + kCommit + kArrive + wait(0) + kReadOther + kWait).outcome.conflicts.empty());
}

TEST(CopyArrive, WaiterPassesWhatItLearntOnThroughABarrier) {
  // Warp 1 waits on the mbarrier, the block barrier releases warp 0.
  expectClean(run64(init(64) + kCopy + kCopyArriveNoinc + "setp.eq.u32 %p3, %w, 0;\n@%p3 bra MEET;\n" +
                    wait(0) + "MEET:\n" + kSync + kReadOther));
}

// --- waits and arrivals that meet the wrong phase on some schedule ---

const std::string kFirstWarp = "setp.ne.u32 %p3, %w, 0;\n@%p3 bra SECOND;\n";

TEST(MbarrierPhases, PhaseThatOvertakesItsWaiter) {
  // Warp 0 turns two phases; nothing makes it wait for warp 1, which asks for the first.
  const test::Ran ran = run64(init(32) + kFirstWarp + kArrive + wait(0, "A") + kArrive + wait(1, "B") +
                              "bra END;\nSECOND:\n" + wait(0, "C") + "END:\n");
  EXPECT_THAT(test::rulesOf(ran), ElementsAre("phase-race"));
}

TEST(MbarrierPhases, WaiterThatArrivesItselfIsNotOvertaken) {
  expectClean(run64(init(64) + kArrive + wait(0) + kArrive + wait(1, "B") + kArrive + wait(0, "C")));
}

TEST(MbarrierPhases, WaiterIsHeldBackByABarrier) {
  expectClean(run64(init(32) + kFirstWarp + kArrive + "SECOND:\n" + wait(0, "A") + kSync +
                    "setp.ne.u32 %p3, %w, 0;\n@%p3 bra THIRD;\n" + kArrive + "THIRD:\n" + wait(1, "B")));
}

TEST(MbarrierPhases, ArrivalThatDoesNotKnowThePhaseBefore) {
  // Warp 1 means the second phase, and may come in the first.
  const test::Ran ran = run64(init(32) + kFirstWarp + kArrive + wait(0, "A") + wait(1, "B") +
                              "bra END;\nSECOND:\n" + kArrive + "END:\n");
  EXPECT_THAT(test::rulesOf(ran), ::testing::Contains("phase-race"));
}

TEST(MbarrierPhases, TwoBarriersHoldEachOtherBack) {
  // A ring of one slot: full and empty, four turns.
  const std::string ring = R"(
setp.eq.u32 %p1, %t, 0;
@%p1 mbarrier.init.shared.b64 [bar], 32;
@%p1 mbarrier.init.shared.b64 [bar+8], 32;
bar.sync 0;
mov.u32 %r1, 0;
setp.ne.u32 %p3, %w, 0;
LOOP:
and.b32 %r2, %r1, 1;
xor.b32 %r3, %r2, 1;
@%p3 bra CONSUME;
EMPTY:
mbarrier.try_wait.parity.shared.b64 %p2, [bar+8], %r3;
@!%p2 bra EMPTY;
st.shared.v4.u32 [%s], {%r4, %r4, %r4, %r4};
mbarrier.arrive.shared.b64 _, [bar];
bra NEXT;
CONSUME:
FULL:
mbarrier.try_wait.parity.shared.b64 %p2, [bar], %r2;
@!%p2 bra FULL;
ld.shared.u32 %r5, [%s+-512];
mbarrier.arrive.shared.b64 _, [bar+8];
NEXT:
add.u32 %r1, %r1, 1;
setp.lt.u32 %p4, %r1, %n;
@%p4 bra LOOP;
)";
  expectClean(run64(ring));
  // Consumers that do not wait for the phase they mean: the other parity.
  std::string early = ring;
  early.replace(early.find("[bar], %r2"), 10, "[bar], %r3");
  EXPECT_THAT(test::rulesOf(run64(early)), ::testing::Not(IsEmpty()));
}

TEST(MbarrierCounts, NoCompleteThatCompletesThePhase) {
  const std::string arrive = "mbarrier.arrive.noComplete.shared.b64 %d1, [bar], 1;\n";
  EXPECT_THAT(misuses(run64(init(64) + arrive)), ElementsAre(Misuse::Kind::kCompletingNoComplete));
  EXPECT_THAT(misuses(run64(init(65) + arrive)), IsEmpty());
}

TEST(MbarrierCounts, DroppingTheLastExpectedArrival) {
  EXPECT_THAT(misuses(run64(init(64) + "mbarrier.arrive_drop.shared.b64 _, [bar];\n")),
              ElementsAre(Misuse::Kind::kEmptyExpectedCount));
}

TEST(MbarrierLife, OrdinaryAccessToALiveBarrier) {
  EXPECT_THAT(misuses(run64(init(64) + "@%p1 st.shared.u32 [bar+4], %r1;\n")),
              ElementsAre(Misuse::Kind::kBarrierOverwritten));
  EXPECT_THAT(misuses(run64(init(64) + "@%p1 st.shared.u32 [bar+8], %r1;\n")), IsEmpty())
      << "the object ends before";
  EXPECT_THAT(
      misuses(run64(init(64) + "@%p1 mbarrier.inval.shared.b64 [bar];\n@%p1 st.shared.u32 [bar], %r1;\n")),
      IsEmpty());
}

}  // namespace
}  // namespace handoff::machine
