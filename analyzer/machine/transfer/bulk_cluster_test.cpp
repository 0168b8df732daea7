// SPDX-License-Identifier: Apache-2.0
// Bulk copies and asynchronous stores that cross CTAs: multicast, shared memory to shared memory, whose
// barrier counts.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analyzer/test_support/async_kernel.h"

namespace handoff::machine {
namespace {

using test::barrierOf;
using test::byCta;
using test::byThread;
using test::conflictsOf;
using test::expect;
using test::expectClean;
using test::initBarriers;
using test::kClusterSync;
using test::kProxyFence;
using test::kReadOwn;
using test::kWriteOwn;
using test::load;
using test::misusesOf;
using test::readAt;
using test::stuckOf;
using test::tileOf;
using test::waitFor;
using test::writeAt;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Not;
using Kind = Misuse::Kind;

constexpr unsigned kTile = 512;  ///< 16 bytes of each of 32 threads

/// Clusters of CTAs of one warp.
test::Ran run(const std::string& statements, std::uint32_t ctas = 2) {
  return test::run(statements, {.block = {32, 1, 1}, .grid = {ctas, 1, 1}, .cluster = {ctas, 1, 1}});
}

const std::string kBoth = kClusterSync;
/// Both CTAs: bar[0] and bar[1] for one arrival each, known in the whole cluster.
const std::string kReady = initBarriers({1, 1}) + kBoth;

// --- multicast ---

std::string multicast(unsigned mask, unsigned bytes = kTile, unsigned to = 0) {
  return "mov.u16 %h1, " + std::to_string(mask) +
         ";\ncp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [tile+" +
         std::to_string(to) + "], [%in], " + std::to_string(bytes) + ", [bar], %h1;\n";
}
const std::string kExpectTile = byThread(0, expect(kTile));

TEST(Multicast, EveryDestinationExpectsAllBytes) {
  expectClean(run(kReady + kExpectTile + byCta(0, byThread(0, multicast(3))) + waitFor(0) + kReadOwn));
}

TEST(Multicast, HalfFromEachCta) {
  const auto half = [](unsigned rank) { return byCta(rank, byThread(0, multicast(3, 256, 256 * rank))); };
  expectClean(run(kReady + kExpectTile + half(0) + half(1) + waitFor(0) + kReadOwn));
}

TEST(Multicast, IsOverInEachCtaApart) {
  // CTA 0 knows by its own barrier only that its part of the first copy is over.
  const std::string two = byThread(0, expect(kTile) + expect(kTile, 1));
  const auto again = [](const std::string& before) {
    const std::string second = "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [tile], "
                               "[%in+512], 512, [bar+8], %h1;\n";
    return byCta(0, byThread(0, multicast(3))) + waitFor(0) + before + byCta(0, byThread(0, "mov.u16 %h1, 3;\n" + second)) +
           waitFor(0, 1) + kBoth;
  };
  EXPECT_THAT(conflictsOf(run(kReady + two + kBoth + again(""))), ElementsAre("bulk -> bulk"));
  EXPECT_THAT(conflictsOf(run(kReady + two + kBoth + again(kBoth))), IsEmpty());
}

TEST(Multicast, DestinationThatExpectsNothing) {
  const test::Ran ran =
      run(kReady + byCta(0, byThread(0, expect(kTile) + multicast(3)) + waitFor(0)) + kBoth);
  EXPECT_THAT(misusesOf(ran), Contains(Kind::kByteMismatch));
}

TEST(Multicast, BytesAreNotSharedAmongTheDestinations) {
  const test::Ran ran =
      run(kReady + byThread(0, expect(kTile / 2)) + byCta(0, byThread(0, multicast(3))) + waitFor(0));
  EXPECT_THAT(misusesOf(ran), Contains(Kind::kByteMismatch));
}

TEST(Multicast, MaskLeavesCtasOut) {
  expectClean(run(kReady + byCta(1, kExpectTile) + byCta(0, byThread(0, multicast(2))) +
                  byCta(1, waitFor(0) + kReadOwn) + kBoth));
  const test::Ran ran = run(kReady + kExpectTile + byCta(0, byThread(0, multicast(2))) + waitFor(0));
  EXPECT_THAT(stuckOf(ran), Contains(Stuck::Kind::kMbarrier))
      << "CTA 0 waits for bytes that go to CTA 1 only";
}

TEST(Multicast, MaskNamesCtasThatDoNotExist) {
  EXPECT_THAT(misusesOf(run(kReady + kExpectTile + byCta(0, byThread(0, multicast(7))) + waitFor(0) + kBoth)),
              ElementsAre(Kind::kNoSuchPeer));
}

TEST(Multicast, IssuerDoesNotWaitForTheOthers) {
  // Each CTA sees its own copy complete; that says nothing of the other's.
  EXPECT_THAT(conflictsOf(run(kReady + kExpectTile +
                              byCta(0, byThread(0, multicast(3)) + waitFor(0) + tileOf(1, "%r21") +
                                           "ld.shared::cluster.u32 %r1, [%r21];\n") +
                              byCta(1, waitFor(0)) + kBoth)),
              ElementsAre("bulk -> read"));
}

TEST(Multicast, PeerThatHasNotStarted) {
  EXPECT_THAT(misusesOf(run(initBarriers({1}) + kExpectTile + byCta(0, byThread(0, multicast(3))) +
                            waitFor(0) + kBoth)),
              Not(IsEmpty()));
}

TEST(Multicast, DestinationLeavesBeforeTheCopyIsThere) {
  const test::Ran ran =
      run(kReady + kExpectTile + byCta(0, byThread(0, multicast(3)) + waitFor(0)) + byCta(1, "exit;\n"));
  ASSERT_THAT(misusesOf(ran), ElementsAre(Kind::kPeerMayHaveExited));
  EXPECT_EQ(ran.outcome.misuses[0].value, 1u);
}

TEST(Multicast, IssuerMayLeaveAtOnce) {
  // Its own part of the copy is waited for by another of its threads.
  expectClean(run(kReady + kExpectTile + byCta(0, byThread(0, multicast(3) + "exit;\n")) + waitFor(0)));
}

/// Second round of a multicast: each CTA's slot is released at bar[1] of CTA 0.
std::string secondRound(unsigned releases) {
  const std::string release =
      barrierOf(0, "%r30", 1) + "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r30];\n";
  return initBarriers({1, releases}) + kBoth + byThread(0, expect(kTile)) +
         byCta(0, byThread(0, multicast(3))) + waitFor(0) + kReadOwn + kProxyFence +
         "bar.warp.sync 0xffffffff;\n" + byThread(0, release) + byThread(0, expect(kTile)) +
         byCta(0, byThread(0, waitFor(0, 1) + multicast(3))) + waitFor(1) + kReadOwn + kBoth;
}

TEST(Multicast, RefillWaitsForTheReadersOfEveryCta) { expectClean(run(secondRound(2))); }

TEST(Multicast, RefillThatCountsTheOwnReadersOnly) {
  const test::Ran ran = run(secondRound(1));
  EXPECT_FALSE(ran.outcome.conflicts.empty() && ran.outcome.misuses.empty());
  EXPECT_THAT(test::rulesOf(ran), Not(IsEmpty()));
}

// --- global memory into another CTA ---

TEST(RemoteLoad, BarrierLiesBesideTheDestination) {
  const auto copy = [](unsigned rank_of_barrier) {
    return byCta(
        0, byThread(0, tileOf(1, "%r21") + barrierOf(rank_of_barrier, "%r22") +
                           "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r21], [%in], "
                           "512, [%r22];\n"));
  };
  expectClean(run(kReady + byCta(1, kExpectTile) + copy(1) + byCta(1, waitFor(0) + kReadOwn) + kBoth));
  const test::Ran ran = run(kReady + byCta(0, kExpectTile) + copy(0) + byCta(0, waitFor(0)) + kBoth);
  ASSERT_THAT(misusesOf(ran), Contains(Kind::kWrongSpace));
  EXPECT_EQ(ran.outcome.misuses[0].value, 1u);
}

TEST(RemoteLoad, SharedCtaDestinationIsTheOwnCta) {
  const test::Ran ran =
      run(kReady + byCta(1, kExpectTile) +
          byCta(0, byThread(0, tileOf(1, "%r21") + barrierOf(1, "%r22") +
                                   "cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes "
                                   "[%r21], [%in], 512, [%r22];\n")) +
          byCta(1, waitFor(0)) + kBoth);
  ASSERT_THAT(misusesOf(ran), ElementsAre(Kind::kWrongSpace));
  EXPECT_EQ(ran.outcome.misuses[0].value, 0u);
}

TEST(RemoteLoad, OwnCtaThroughTheClusterWindow) {
  expectClean(run(
      kReady + byCta(0, byThread(0, expect(kTile) + tileOf(0, "%r21") + barrierOf(0, "%r22") +
                                        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "
                                        "[%r21], [%in], 512, [%r22];\n") +
                            waitFor(0) + kReadOwn)));
}

// --- shared memory to shared memory ---

std::string send(unsigned to, unsigned barrier_of, unsigned bytes = kTile) {
  return tileOf(to, "%r21") + barrierOf(barrier_of, "%r22") +
         "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%r21], [tile], " +
         std::to_string(bytes) + ", [%r22];\n";
}
/// CTA 0 fills its tile, fences, and sends it to CTA 1.
std::string exchange(const std::string& fence, const std::string& sending, const std::string& after) {
  return initBarriers({1}) + byCta(0, kWriteOwn + fence) + kBoth + byCta(1, kExpectTile) +
         byCta(0, byThread(0, sending)) + byCta(1, waitFor(0) + kReadOwn) + after;
}

TEST(Dsmem, ReceiverWaitsAndReadsWithoutAFence) {
  expectClean(run(exchange(kProxyFence, send(1, 1), kBoth)));
}

TEST(Dsmem, WrittenSourceNeedsAFence) {
  EXPECT_THAT(conflictsOf(run(exchange("", send(1, 1), kBoth))), ElementsAre("!write -> bulk"));
  expectClean(run(exchange("", kProxyFence + send(1, 1), kBoth)));
}

TEST(Dsmem, GoesToAnotherCta) {
  const test::Ran ran = run(kReady + byCta(0, byThread(0, expect(kTile) + send(0, 0)) + waitFor(0)));
  ASSERT_THAT(misusesOf(ran), Contains(Kind::kWrongSpace));
  EXPECT_EQ(ran.outcome.misuses[0].value, 2u);
}

TEST(Dsmem, BarrierLiesBesideTheDestination) {
  const test::Ran ran = run(kReady + byCta(0, byThread(0, expect(kTile) + send(1, 0)) + waitFor(0)) + kBoth);
  ASSERT_THAT(misusesOf(ran), Contains(Kind::kWrongSpace));
  EXPECT_EQ(ran.outcome.misuses[0].value, 1u);
}

TEST(Dsmem, SenderLeavesWhileItIsRead) {
  const test::Ran ran = run(exchange(kProxyFence, send(1, 1), ""));
  ASSERT_THAT(misusesOf(ran), ElementsAre(Kind::kPeerMayHaveExited));
  EXPECT_EQ(ran.outcome.misuses[0].value, 0u);
}

TEST(Dsmem, SenderOverwritesItsSource) {
  EXPECT_THAT(conflictsOf(run(exchange(kProxyFence, send(1, 1) + writeAt(0), kBoth))),
              ElementsAre("bulk -> write"));
  expectClean(run(exchange(kProxyFence, send(1, 1), kBoth + byCta(0, writeAt(0)))));
}

TEST(Dsmem, ReceiverReadsBeforeItsWait) {
  EXPECT_THAT(conflictsOf(run(initBarriers({1}) + byCta(0, kWriteOwn + std::string(kProxyFence)) + kBoth +
                              byCta(1, kExpectTile) + byCta(0, byThread(0, send(1, 1))) +
                              byCta(1, kReadOwn + waitFor(0)) + kBoth)),
              Not(IsEmpty()));
}

TEST(Dsmem, BytesCountAtTheReceiver) {
  EXPECT_THAT(misusesOf(run(exchange(kProxyFence, send(1, 1, 256), kBoth))), Contains(Kind::kByteMismatch));
}

TEST(Dsmem, ReductionsTheSame) {
  const std::string reduce = tileOf(1, "%r21") + barrierOf(1, "%r22") +
                             "cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes."
                             "add.u32 [%r21], [tile], 512, "
                             "[%r22];\n";
  expectClean(run(exchange(kProxyFence, reduce, kBoth)));
  EXPECT_THAT(conflictsOf(run(exchange("", reduce, kBoth))), ElementsAre("!write -> bulk"));
}

// --- st.async, red.async ---

std::string asyncStore(unsigned to, unsigned barrier_of) {
  return tileOf(to, "%r21") + barrierOf(barrier_of, "%r22") +
         "st.async.shared::cluster.mbarrier::complete_tx::bytes.v4.b32 [%r21], {%r1, %r2, %r3, %r4}, "
         "[%r22];\n";
}
std::string asyncAdd(unsigned to, unsigned barrier_of) {
  return tileOf(to, "%r21") + barrierOf(barrier_of, "%r22") +
         "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [%r21], %r1, "
         "[%r22];\n";
}

TEST(AsyncStore, ReaderWaitsAndNeedsNoFence) {
  expectClean(run(kReady + byCta(1, byThread(0, expect(16))) + byCta(0, byThread(0, asyncStore(1, 1))) +
                  byCta(1, waitFor(0) + readAt(0)) + kBoth));
}

TEST(AsyncStore, WithoutTheWaitItIsARace) {
  EXPECT_THAT(
      conflictsOf(run(kReady + byCta(1, byThread(0, expect(16))) + byCta(0, byThread(0, asyncStore(1, 1))) +
                      kBoth + byCta(1, readAt(0) + waitFor(0)) + kBoth)),
      ElementsAre("st.async -> read"));
}

TEST(AsyncStore, EveryLaneStoresItsBytes) {
  const std::string own =
      "mapa.shared::cluster.u32 %r21, %s, 1;\n" + barrierOf(1, "%r22") +
      "st.async.shared::cluster.mbarrier::complete_tx::bytes.v4.b32 [%r21], {%r1, %r2, %r3, %r4}, "
      "[%r22];\n";
  expectClean(run(kReady + byCta(1, byThread(0, expect(kTile))) + byCta(0, own) +
                  byCta(1, waitFor(0) + kReadOwn) + kBoth));
  EXPECT_THAT(misusesOf(run(kReady + byCta(1, byThread(0, expect(16))) + byCta(0, own) +
                            byCta(1, waitFor(0)) + kBoth)),
              Contains(Kind::kByteMismatch));
}

TEST(AsyncStore, TwoLanesMeetInOneWord) {
  const auto all = [](const std::string& by_lane, const std::string& operation) {
    return conflictsOf(run(kReady + byCta(1, byThread(0, expect(128))) +
                           byCta(0, tileOf(1, "%r21") + barrierOf(1, "%r22") + by_lane +
                                        operation + ".shared::cluster.mbarrier::complete_tx::bytes" +
                                        (operation == "red.async" ? ".add" : "") + ".u32 [%r21], %r1, [%r22];\n") +
                           byCta(1, waitFor(0)) + kBoth));
  };
  EXPECT_THAT(all("", "st.async"), ElementsAre("st.async -> st.async"));
  EXPECT_THAT(all("shl.b32 %r23, %lane, 2;\nadd.u32 %r21, %r21, %r23;\n", "st.async"), IsEmpty());
  EXPECT_THAT(all("", "red.async"), IsEmpty()) << "sums may meet";
}

TEST(AsyncStore, DestinationIsAlignedToWhatIsStored) {
  const auto by = [](unsigned offset) {
    return misusesOf(run(kReady + byCta(1, byThread(0, expect(8))) +
                         byCta(0, byThread(0, tileOf(1, "%r21") + barrierOf(1, "%r22") +
                                                  "st.async.shared::cluster.mbarrier::complete_tx::bytes.v2.b32 [%r21+" +
                                                  std::to_string(offset) + "], {%r1, %r2}, [%r22];\n")) +
                         byCta(1, waitFor(0)) + kBoth));
  };
  EXPECT_THAT(by(8), IsEmpty());
  EXPECT_THAT(by(4), Contains(Kind::kMisalignedDestination));
}

TEST(AsyncStore, BarrierLiesBesideTheDestination) {
  const test::Ran ran =
      run(kReady + byCta(0, byThread(0, expect(16) + asyncStore(1, 0)) + waitFor(0)) + kBoth);
  ASSERT_THAT(misusesOf(ran), Contains(Kind::kWrongSpace));
  EXPECT_EQ(ran.outcome.misuses[0].value, 1u);
}

TEST(AsyncStore, PeerLeavesBeforeItIsThere) {
  EXPECT_THAT(
      misusesOf(run(kReady + byCta(1, byThread(0, expect(16))) + byCta(0, byThread(0, asyncStore(1, 1))))),
      ElementsAre(Kind::kPeerMayHaveExited));
}

TEST(AsyncStore, SenderMayLeaveAtOnce) {
  expectClean(run(kReady + byCta(1, byThread(0, expect(16))) + byCta(0, byThread(0, asyncStore(1, 1))) +
                  byCta(1, waitFor(0))));
}

TEST(AsyncStore, PublishesNothingElseOfItsThread) {
  // An ordinary remote store before it is not covered by its bytes.
  EXPECT_THAT(
      conflictsOf(run(kReady + byCta(1, byThread(0, expect(16))) +
                      byCta(0, byThread(0, tileOf(1, "%r21", 64) +
                                               "st.shared::cluster.v4.u32 [%r21], {%r1, %r2, %r3, %r4};\n" +
                                               asyncStore(1, 1))) +
                      byCta(1, waitFor(0) + readAt(64)) + kBoth)),
      ElementsAre("write -> read"));
}

TEST(AsyncStore, ItsBytesMayThenBeStoredByTma) {
  // st.async is of the generic proxy.
  const auto by = [](const std::string& fence) {
    return conflictsOf(run(kReady + byCta(1, byThread(0, expect(16))) +
                           byCta(0, byThread(0, asyncStore(1, 1))) +
                           byCta(1, byThread(0, waitFor(0) + fence + test::store(0, 16) + test::kBulkCommit +
                                                    test::kBulkReadWait)) +
                           kBoth));
  };
  EXPECT_THAT(by(kProxyFence), IsEmpty());
  EXPECT_THAT(by(""), ElementsAre("!st.async -> bulk"));
}

TEST(AsyncReduction, SeveralThreadsMayAddToOneWord) {
  expectClean(run(kReady + byCta(1, byThread(0, expect(4 * 32))) + byCta(0, asyncAdd(1, 1)) +
                  byCta(1, waitFor(0) + "ld.shared.u32 %r1, [tile];\n") + kBoth));
}

TEST(AsyncReduction, GoesToAnotherCta) {
  const test::Ran ran = run(kReady + byCta(0, byThread(0, expect(4) + asyncAdd(0, 0)) + waitFor(0)) + kBoth);
  ASSERT_THAT(misusesOf(ran), Contains(Kind::kWrongSpace));
  EXPECT_EQ(ran.outcome.misuses[0].value, 2u);
}

}  // namespace
}  // namespace handoff::machine
