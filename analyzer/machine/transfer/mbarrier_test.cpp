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

TEST(MbarrierLife, InvalThenInitIsASecondLife) {
  expectClean(run64(init(64) + kArrive + wait(0) + kSync +
                    "@%p1 mbarrier.inval.shared.b64 [bar];\n@%p1 mbarrier.init.shared.b64 [bar], " + "64;\n" +
                    kSync + kArrive + wait(0, "AGAIN")));
}

TEST(MbarrierLife, UseAfterInvalIsAMisuse) {
  EXPECT_THAT(misuses(run64(init(64) + kSync + "@%p1 mbarrier.inval.shared.b64 [bar];\n" + kSync + kArrive)),
              ElementsAre(Misuse::Kind::kUninitializedBarrier));
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

}  // namespace
}  // namespace handoff::machine
