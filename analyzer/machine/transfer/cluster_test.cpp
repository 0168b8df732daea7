// SPDX-License-Identifier: Apache-2.0
// Clusters: their barrier, shared memory of other CTAs, and how long it lives.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analyzer/test_support/async_kernel.h"

namespace handoff::machine {
namespace {

using test::arrive;
using test::barrierOf;
using test::byCta;
using test::byThread;
using test::byWarp;
using test::conflictsOf;
using test::expectClean;
using test::initBarriers;
using test::kClusterSync;
using test::kReadOwn;
using test::kSync;
using test::kWriteOwn;
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

/// Two CTAs of one warp each.
test::Ran run(const std::string& statements, std::uint32_t ctas = 2, std::uint32_t threads = 32) {
  return test::run(statements, {.block = {threads, 1, 1}, .grid = {ctas, 1, 1}, .cluster = {ctas, 1, 1}});
}

const std::string kBoth = kClusterSync;
/// The thread's 16 bytes of the tile of the other CTA of two.
const std::string kPeer =
    "mov.u32 %r20, %cluster_ctarank;\nxor.b32 %r20, %r20, 1;\nmapa.shared::cluster.u32 %r21, %s, %r20;\n";
const std::string kWritePeer = "st.shared::cluster.v4.u32 [%r21], {%r1, %r2, %r3, %r4};\n";
const std::string kReadPeer = "ld.shared::cluster.v4.u32 {%r1, %r2, %r3, %r4}, [%r21];\n";

// --- the barrier ---

TEST(ClusterBarrierOrder, HandsOverStoresToThePeer) {
  expectClean(run(kBoth + kPeer + kWritePeer + kBoth + kReadOwn));
}

TEST(ClusterBarrierOrder, HandsOverOwnStoresToReadersFromThePeer) {
  expectClean(run(kWriteOwn + kBoth + kPeer + kReadPeer + kBoth));
}

TEST(ClusterBarrierOrder, OverwritingAfterItIsOrderedBehindRemoteReads) {
  const std::string reads = kWriteOwn + kBoth + kPeer + kReadPeer;
  expectClean(run(reads + kBoth + kWriteOwn));
}

TEST(ClusterBarrierOrder, WithoutIt) {
  EXPECT_THAT(conflictsOf(run(test::kCopy + std::string("cp.async.wait_all;\n") + kBoth + kPeer + kReadPeer +
                              test::kCopy + "cp.async.wait_all;\n" + kBoth)),
              Contains("read -> copy"));
}

TEST(ClusterBarrierOrder, BlockBarrierSaysNothingToOtherCtas) {
  EXPECT_THAT(conflictsOf(run(kBoth + kPeer + kWritePeer + kSync + kReadOwn + kBoth)), Not(IsEmpty()));
}

TEST(ClusterBarrierOrder, StoreBetweenArriveAndWaitIsNotHandedOver) {
  EXPECT_THAT(conflictsOf(run(kBoth + kPeer + "barrier.cluster.arrive.aligned;\n" + kWritePeer +
                              "barrier.cluster.wait.aligned;\n" + kReadOwn + kBoth)),
              Not(IsEmpty()));
}

TEST(ClusterBarrierOrder, ReadBetweenArriveAndWaitIsNotCoveredByIt) {
  EXPECT_THAT(conflictsOf(run(kBoth + kPeer + kWritePeer + "barrier.cluster.arrive.aligned;\n" + kReadOwn +
                              "barrier.cluster.wait.aligned;\n" + kBoth)),
              Not(IsEmpty()));
}

TEST(ClusterBarrierOrder, RelaxedArriveHandsNothingOver) {
  EXPECT_THAT(conflictsOf(run(kBoth + kPeer + kWritePeer + "barrier.cluster.arrive.relaxed.aligned;\n" +
                              "barrier.cluster.wait.acquire.aligned;\n" + kReadOwn + kBoth)),
              ElementsAre("write -> read"));
}

TEST(ClusterBarrierOrder, RelaxedArriveAfterAFenceDoes) {
  expectClean(run(kBoth + kPeer + kWritePeer +
                  "fence.acq_rel.cluster;\nbarrier.cluster.arrive.relaxed.aligned;\n" +
                  "barrier.cluster.wait.acquire.aligned;\n" + kReadOwn));
}

TEST(ClusterBarrierOrder, FenceHasToReachTheOtherCta) {
  const auto by = [](const std::string& fence) {
    return conflictsOf(run(kBoth + kPeer + kWritePeer + fence + "barrier.cluster.arrive.relaxed.aligned;\n" +
                           "barrier.cluster.wait.acquire.aligned;\n" + kReadOwn));
  };
  EXPECT_THAT(by("fence.acq_rel.cta;\n"), ElementsAre("write -> read"));
  EXPECT_THAT(by("membar.cta;\n"), ElementsAre("write -> read"));
  EXPECT_THAT(by("fence.acquire.cluster;\n"), ElementsAre("write -> read"));
  EXPECT_THAT(by("fence.release.cluster;\n"), IsEmpty());
  EXPECT_THAT(by("membar.gl;\n"), IsEmpty());
}

TEST(ClusterBarrierOrder, InitialisationBehindItsFenceIsNotPublished) {
  const auto by = [](const std::string& before, const std::string& behind) {
    return misusesOf(run(before + byThread(0, "mbarrier.init.shared.b64 [bar], 1;\n" + behind) +
                         "barrier.cluster.arrive.relaxed.aligned;\nbarrier.cluster.wait.acquire.aligned;\n" +
                         byThread(0, barrierOf(1, "%r22") + "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r22];\n") + kBoth));
  };
  const std::string fence = "fence.mbarrier_init.release.cluster;\n";
  EXPECT_THAT(by("", fence), Not(Contains(Kind::kBarrierInitUnordered)));
  EXPECT_THAT(by(fence, ""), Contains(Kind::kBarrierInitUnordered));
}

TEST(RemoteMbarrier, RelaxedArrivalAndWaitTakeFencesOfClusterScope) {
  const auto by = [](const std::string& release, const std::string& acquire) {
    const std::string wait = "WAIT:\nmbarrier.try_wait.parity.relaxed.cluster.shared::cta.b64 %p2, [bar], 0;\n@!%p2 bra WAIT;\n";
    return conflictsOf(run(initBarriers({32}) + kBoth + kPeer + kWritePeer + release + "mov.u32 %r22, bar;\n" +
                           "mapa.shared::cluster.u32 %r22, %r22, %r20;\n" +
                           "mbarrier.arrive.relaxed.cluster.shared::cluster.b64 _, [%r22];\n" + wait + acquire + kReadOwn + kBoth));
  };
  const std::string wide = "fence.acq_rel.cluster;\n", narrow = "fence.acq_rel.cta;\n";
  EXPECT_THAT(by(wide, wide), IsEmpty());
  EXPECT_THAT(by("fence.release.cluster;\n", "fence.acquire.cluster;\n"), IsEmpty());
  EXPECT_THAT(by(narrow, wide), ElementsAre("write -> read"));
  EXPECT_THAT(by(wide, narrow), ElementsAre("write -> read"));
  EXPECT_THAT(by(wide, "fence.release.cluster;\n"), ElementsAre("write -> read"));
}

TEST(RemoteAtomics, OfBlockScopeRace) {
  const auto by = [](const std::string& scope) {
    return conflictsOf(run(kBoth + kPeer + "mov.u32 %r22, flag;\nmapa.shared::cluster.u32 %r22, %r22, 0;\n" + "red.relaxed." + scope +
                           ".shared::cluster.add.u32 [%r22], 1;\n" + kBoth));
  };
  EXPECT_THAT(by("cluster"), IsEmpty());
  EXPECT_THAT(by("cta"), Not(IsEmpty()));
}

TEST(RemoteFlag, BothSidesTakeClusterScope) {
  const auto by = [](const std::string& store, const std::string& load) {
    const std::string send = kWritePeer + "mov.u32 %r22, flag;\nmapa.shared::cluster.u32 %r22, %r22, %r20;\n" + store +
                             ".shared::cluster.u32 [%r22], 1;\n";
    const std::string receive = "POLL:\n" + load + ".shared::cta.u32 %r23, [flag];\nsetp.eq.u32 %p3, %r23, 0;\n@%p3 bra POLL;\n" + kReadOwn;
    return conflictsOf(run("mov.u32 %r24, 0;\nst.shared.u32 [flag], %r24;\n" + kBoth + kPeer + byCta(0, send) + byCta(1, receive) + kBoth, 2, 1));
  };
  EXPECT_THAT(by("st.release.cluster", "ld.acquire.cluster"), IsEmpty());
  EXPECT_THAT(by("st.release.cta", "ld.acquire.cluster"), Contains("write -> read"));
  EXPECT_THAT(by("st.release.cluster", "ld.acquire.cta"), Contains("write -> read"));
}

TEST(ClusterBarrierOrder, DefaultsAreReleaseAndAcquire) {
  expectClean(
      run(kBoth + kPeer + kWritePeer + "barrier.cluster.arrive;\nbarrier.cluster.wait;\n" + kReadOwn));
}

TEST(ClusterBarrierOrder, CompletesNoCopy) {
  EXPECT_THAT(conflictsOf(run(test::kCopy + kBoth + kPeer + kReadPeer + "cp.async.wait_all;\n" + kBoth)),
              ElementsAre("copy -> read"));
}

TEST(ClusterBarrierOrder, WorksWithinOneCtaToo) {
  expectClean(test::run(kWriteOwn + kBoth + test::kReadOther, {.block = {64, 1, 1}}));
}

TEST(ClusterBarrierProtocol, EveryThreadThatHasNotExitedArrives) {
  expectClean(run(byWarp(1, "exit;\n") + kBoth + kBoth, 2, 64));
}

TEST(ClusterBarrierProtocol, ThreadThatSkipsItIsAHang) {
  // Warp 1 of CTA 1 goes to the block barrier instead, where nobody comes.
  const test::Ran ran = run(byCta(1, byWarp(1, "bar.sync 1, 64;\nexit;\n")) + kBoth, 2, 64);
  EXPECT_THAT(stuckOf(ran), Contains(Stuck::Kind::kClusterBarrier));
}

TEST(ClusterBarrierProtocol, DifferentNumberOfTurns) {
  EXPECT_THAT(stuckOf(run(kBoth + byCta(1, "bar.sync 1, 64;\n") + kBoth)),
              Contains(Stuck::Kind::kClusterBarrier));
  // Whoever has left is not waited for.
  expectClean(run(kBoth + byCta(1, kBoth)));
}

TEST(ClusterBarrierProtocol, WaitWithoutAnArrivalNeverEnds) {
  EXPECT_THAT(stuckOf(run("barrier.cluster.wait.aligned;\n")), Contains(Stuck::Kind::kClusterBarrier));
}

TEST(ClusterBarrierProtocol, SecondArrivalBeforeTheWait) {
  EXPECT_THAT(misusesOf(run("barrier.cluster.arrive.aligned;\n" + kBoth)),
              Contains(Kind::kDoubleClusterArrive));
}

TEST(ClusterBarrierProtocol, AlignedFormByAPartOfAWarp) {
  EXPECT_THAT(misusesOf(run("setp.lt.u32 %p1, %lane, 16;\n@%p1 barrier.cluster.arrive.aligned;\n@!%p1 "
                            "barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;\n")),
              Contains(Kind::kDivergentBarrier));
  expectClean(
      run("setp.lt.u32 %p1, %lane, 16;\n@%p1 barrier.cluster.arrive;\n@!%p1 barrier.cluster.arrive;\n"
          "barrier.cluster.wait;\n"));
}

TEST(ClusterSpecials, DescribeTheCta) {
  const test::Ran ran = test::run(
      "mov.u32 %r1, %cluster_ctarank;\nmov.u32 %r2, %cluster_nctarank;\nmov.u32 %r3, %ctaid.x;\nmov.u32 %r4, "
      "%clusterid.x;\nmad.lo.u32 %r1, %r2, 10, %r1;\nmad.lo.u32 %r1, %r3, 100, %r1;\nmad.lo.u32 %r1, %r4, "
      "1000, %r1;\n"
      "cvt.u64.u32 %d1, %r1;\n" +
          test::probe("%d1") + "cp.async.wait_all;\n",
      {.grid = {8, 1, 1}, .cluster = {2, 1, 1}, .block_index = {4, 0, 0}});
  const auto probes = test::probesOf(ran);
  ASSERT_EQ(probes.size(), 2u);
  EXPECT_EQ(probes[0][0], 2420u) << "cluster 2, CTA 4, rank 0 of 2";
  EXPECT_EQ(probes[1][0], 2521u);
}

// %warpid counts through all CTAs of the cluster.
TEST(ClusterSpecials, WarpsAreCountedWithinTheirCta) {
  const auto probes = test::probesOf(
      run("mov.u32 %r1, %warpid;\ncvt.u64.u32 %d1, %r1;\n" + test::probe("%d1") + "cp.async.wait_all;\n"));
  ASSERT_EQ(probes.size(), 2u);
  EXPECT_EQ(probes[1][0], 0u);
}

// --- start and end of a CTA ---

TEST(ClusterLife, PeerThatMayNotHaveStarted) {
  for (const std::string& access :
       {kWritePeer, kReadPeer, std::string("atom.shared::cluster.add.u32 %r1, [%r21], 1;\n")}) {
    EXPECT_THAT(misusesOf(run(kPeer + access + kBoth)), ElementsAre(Kind::kPeerNotStarted)) << access;
    EXPECT_THAT(misusesOf(run(kBoth + kPeer + access + kBoth)), IsEmpty()) << access;
  }
}

TEST(ClusterLife, RelaxedBarrierSaysThatThePeerHasStarted) {
  expectClean(run("barrier.cluster.arrive.relaxed.aligned;\nbarrier.cluster.wait.aligned;\n" + kPeer +
                  kWritePeer + kBoth));
}

TEST(ClusterLife, PeerThatMayHaveLeft) {
  const test::Ran ran = run(kBoth + byCta(0, kPeer + kReadPeer));
  ASSERT_THAT(misusesOf(ran), ElementsAre(Kind::kPeerMayHaveExited));
  EXPECT_EQ(ran.outcome.misuses[0].value, 1u) << "CTA 1 leaves";
}

TEST(ClusterLife, ArrivalAtAFinalBarrierThatThePeerWaitsFor) {
  // CTA 0 need not wait itself.
  expectClean(run(kBoth + byCta(0, kPeer + kReadPeer + "barrier.cluster.arrive.aligned;\nexit;\n") + kBoth));
}

TEST(ClusterLife, PeerThatArrivesWithoutWaitingMayLeave) {
  EXPECT_THAT(misusesOf(run(kBoth + byCta(1, "barrier.cluster.arrive.aligned;\nexit;\n") + kPeer + kReadPeer +
                            kBoth)),
              ElementsAre(Kind::kPeerMayHaveExited));
}

TEST(ClusterLife, OwnMemoryThroughTheClusterWindowIsNoPeer) {
  expectClean(run("mov.u32 %r20, %cluster_ctarank;\nmapa.shared::cluster.u32 %r21, %s, %r20;\n" + kWritePeer +
                  kReadPeer));
}

TEST(ClusterLife, OneThreadOfThePeerThatStaysIsEnough) {
  expectClean(run(kBoth + byCta(1, byWarp(1, "exit;\n")) + kPeer + kReadPeer + kBoth, 2, 64));
}

TEST(ClusterRanks, OutsideOfTheCluster) {
  const test::Ran ran = run(kBoth + "mapa.shared::cluster.u32 %r21, %s, 2;\n" + kReadPeer + kBoth);
  ASSERT_THAT(misusesOf(ran), ElementsAre(Kind::kNoSuchPeer));
  EXPECT_EQ(ran.outcome.misuses[0].value, 2u);
  EXPECT_EQ(ran.outcome.misuses[0].wanted, 2u);
}

TEST(ClusterRanks, LastOfFour) {
  const std::string write = "mapa.shared::cluster.u32 %r21, %s, 3;\n" + kWritePeer;
  expectClean(run(kBoth + byCta(0, write) + kBoth + byCta(3, kReadOwn), 4));
  EXPECT_THAT(conflictsOf(run(kBoth + byCta(0, write) + kBoth + byCta(3, kReadOwn), 4)), IsEmpty());
}

// As CUTLASS names the leader of a pair: the lowest bit of the rank is cleared in the address.
TEST(ClusterRanks, LeaderOfAPairByMask) {
  const std::string leader = "and.b32 %r21, %s, 0xFEFFFFFF;\n" + kWritePeer;
  expectClean(run(kBoth + byCta(1, leader) + kBoth + byCta(0, kReadOwn)));
  EXPECT_EQ(conflictsOf(run(kBoth + byCta(1, leader) + byCta(0, kReadOwn) + kBoth)).size(), 1u);
  EXPECT_THAT(conflictsOf(run(kBoth + byCta(1, leader) + byCta(1, kReadOwn) + kBoth)), IsEmpty());
  // Bits that are known to be 0 a compiler leaves out of the mask.
  const std::string aligned = "and.b32 %r21, %s, 0xFEFFFFF8;\n" + kWritePeer;
  EXPECT_EQ(conflictsOf(run(kBoth + byCta(1, aligned) + byCta(0, kReadOwn) + kBoth)).size(), 1u);
  const std::string of_three = "mapa.shared::cluster.u32 %r21, %s, 3;\nand.b32 %r21, %r21, 0xFEFFFFFF;\n" + kWritePeer;
  EXPECT_EQ(conflictsOf(run(kBoth + byCta(0, of_three) + byCta(2, kReadOwn) + kBoth, 4)).size(), 1u);
}

TEST(ClusterRanks, MasksOfNumbersAreMasks) {
  const std::string number = "and.b32 %r20, 5, 0xFEFFFFFF;\nsub.u32 %r20, %r20, 5;\nadd.u32 %r21, %r20, %s;\n";
  expectClean(run(number + kWritePeer + kReadOwn));
  const std::string length = "and.b32 %r20, 1500, 0x7FFFFFFF;\nsub.u32 %r20, %r20, 1500;\nadd.u32 %r21, %r20, %s;\n";
  expectClean(run(length + kWritePeer + kReadOwn));
}

TEST(ClusterRanks, GenericAddressesOfPeers) {
  const std::string peer =
      "cvt.u64.u32 %d1, %s;\ncvta.shared.u64 %d1, %d1;\nmov.u32 %r20, %cluster_ctarank;\n"
      "xor.b32 %r20, %r20, 1;\nmapa.u64 %d2, %d1, %r20;\n";
  expectClean(run(kBoth + peer + "st.v4.u32 [%d2], {%r1, %r2, %r3, %r4};\n" + kBoth + kReadOwn));
  EXPECT_THAT(misusesOf(run(peer + "st.v4.u32 [%d2], {%r1, %r2, %r3, %r4};\n" + kBoth)),
              ElementsAre(Kind::kPeerNotStarted));
}

TEST(ClusterRanks, EachCtaHasItsOwnMemory) {
  // The same offset in two CTAs is no conflict.
  expectClean(run(byThread(0, writeAt(0)) + byCta(1, readAt(4096))));
  expectClean(run(kWriteOwn + std::string(kSync) + kReadOwn));
}

// --- mbarriers of other CTAs ---

/// Both CTAs initialise bar[0] and bar[1] for one arrival and synchronise.
const std::string kReady = initBarriers({1, 1}) + kBoth;

std::string remoteArrive(unsigned rank, const std::string& semantics, unsigned barrier = 0) {
  return barrierOf(rank, "%r30", barrier) + "mbarrier.arrive" + semantics +
         ".shared::cluster.b64 _, [%r30];\n";
}
std::string remoteWait(const std::string& semantics) {
  return "REMOTE:\nmbarrier.try_wait.parity" + semantics +
         ".shared::cta.b64 %p1, [bar], 0;\n@!%p1 bra REMOTE;\n";
}

/// Thread 0 of CTA 0 writes into CTA 1 and arrives there; CTA 1 waits and reads.
std::string handOver(const std::string& arrival, const std::string& wait) {
  return kReady + byCta(0, byThread(0, tileOf(1, "%r21") + kWritePeer + remoteArrive(1, arrival))) +
         byCta(1, remoteWait(wait) + readAt(0)) + kBoth;
}

TEST(RemoteArrive, ClusterScopeOnBothSidesHandsDataOver) {
  expectClean(run(handOver(".release.cluster", ".acquire.cluster")));
}

TEST(RemoteArrive, CtaScopeOnEitherSideDoesNot) {
  for (const auto& [arrival, wait] :
       {std::pair{"", ".acquire.cluster"}, std::pair{".release.cta", ".acquire.cluster"},
        std::pair{".release.cluster", ""}, std::pair{"", ""}}) {
    const test::Ran ran = run(handOver(arrival, wait));
    EXPECT_THAT(conflictsOf(ran), ElementsAre("write -> read")) << arrival << " " << wait;
    EXPECT_THAT(stuckOf(ran), IsEmpty()) << "it counts all the same";
  }
}

TEST(RemoteArrive, RelaxedOneDoesNot) {
  EXPECT_THAT(conflictsOf(run(handOver(".relaxed.cluster", ".acquire.cluster"))),
              ElementsAre("write -> read"));
  EXPECT_THAT(conflictsOf(run(handOver(".release.cluster", ".relaxed.cluster"))),
              ElementsAre("write -> read"));
}

/// CTA 0 fills 16 bytes of CTA 1, which reads them and releases the slot by an arrival at bar[1] of CTA 0;
/// then CTA 0 fills it again.
std::string ring(const std::string& fill, const std::string& arrival, const std::string& wait) {
  const std::string producer = tileOf(1, "%r21") + barrierOf(1, "%r22") + fill +
                               "EMPTY:\nmbarrier.try_wait.parity" + wait +
                               ".shared::cta.b64 %p1, [bar+8], 0;\n@!%p1 bra EMPTY;\n" + fill;
  const std::string consumer =
      byThread(0, test::expect(16) + waitFor(0) + readAt(0) + test::kProxyFence +
                      remoteArrive(0, arrival, 1) + test::expect(16) + waitFor(1) + readAt(0));
  return kReady + byCta(0, byThread(0, producer)) + byCta(1, consumer) + kBoth;
}

/// Bulk load by CTA 0 into CTA 1, and the same by a store that completes later.
const std::string kRemoteLoad =
    "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r21], [%in], 16, [%r22];\n";
const std::string kRemoteStore =
    "st.async.shared::cluster.mbarrier::complete_tx::bytes.v4.b32 [%r21], {%r1, %r2, %r3, %r4}, [%r22];\n";
const std::pair<const char*, const char*> kScopes[] = {
    {".release.cluster", ".acquire.cluster"}, {"", ""}, {"", ".acquire.cluster"}, {".release.cluster", ""}};

TEST(RemoteArrive, SlotReleaseIsToleratedWhateverTheScope) {
  for (const auto& [arrival, wait] : kScopes) expectClean(run(ring(kRemoteLoad, arrival, wait)));
}

TEST(RemoteArrive, SlotOfAsynchronousStoresWithClusterScope) {
  expectClean(run(ring(kRemoteStore, ".release.cluster", ".acquire.cluster")));
}

// What is past will do for two operations of the async proxy only, and st.async is of the generic one.
TEST(RemoteArrive, SlotReleaseIsToleratedForAsynchronousStoresToo) {
  for (const auto& [arrival, wait] : kScopes) expectClean(run(ring(kRemoteStore, arrival, wait)));
}

TEST(RemoteArrive, ReleaseBeforeTheReadIsARace) {
  const std::string producer =
      tileOf(1, "%r21") + barrierOf(1, "%r22") + kRemoteLoad + waitFor(0, 1) + kRemoteLoad;
  const std::string consumer =
      byThread(0, test::expect(16) + waitFor(0) + remoteArrive(0, ".release.cluster", 1) + readAt(0) +
                      test::expect(16) + waitFor(1));
  EXPECT_THAT(conflictsOf(run(kReady + byCta(0, byThread(0, producer)) + byCta(1, consumer) + kBoth)),
              Not(IsEmpty()));
}

TEST(RemoteArrive, CountsForTheBarrierOfThatCta) {
  // Both CTAs arrive at the barrier of CTA 1, which expects two.
  expectClean(run(initBarriers({2}) + kBoth + byThread(0, remoteArrive(1, ".release.cluster")) +
                  byCta(1, remoteWait(".acquire.cluster")) + kBoth));
  EXPECT_THAT(stuckOf(run(initBarriers({3}) + kBoth + byThread(0, remoteArrive(1, ".release.cluster")) +
                          byCta(1, remoteWait(".acquire.cluster")) + kBoth)),
              Contains(Stuck::Kind::kMbarrier));
}

TEST(RemoteArrive, BeforeTheInitialisationIsKnown) {
  EXPECT_THAT(
      misusesOf(run(initBarriers({1}) + byCta(0, byThread(0, remoteArrive(1, ".release.cluster"))) + kBoth)),
      ::testing::AnyOf(Contains(Kind::kBarrierInitUnordered), Contains(Kind::kUninitializedBarrier)));
}

TEST(RemoteArrive, InitFenceMakesARelaxedBarrierEnough) {
  const auto by = [](const std::string& fence) {
    return run(byThread(0, "mbarrier.init.shared.b64 [bar], 1;\n" + fence) +
               "barrier.cluster.arrive.relaxed.aligned;\nbarrier.cluster.wait.acquire.aligned;\n" +
               byCta(0, byThread(0, remoteArrive(1, ".release.cluster"))) +
               byCta(1, remoteWait(".acquire.cluster")) + kBoth);
  };
  expectClean(by("fence.mbarrier_init.release.cluster;\n"));
  EXPECT_THAT(misusesOf(by("")), Contains(Kind::kBarrierInitUnordered));
}

TEST(RemoteArrive, InitFencePublishesInitsOnly) {
  EXPECT_THAT(conflictsOf(run(
                  kWriteOwn + std::string("fence.mbarrier_init.release.cluster;\n") +
                  "barrier.cluster.arrive.relaxed.aligned;\nbarrier.cluster.wait.acquire.aligned;\n" + kPeer +
                  "ld.shared::cluster.u32 %r1, [%r21];\n" + test::kCopy + "cp.async.wait_all;\n" + kBoth)),
              Contains("write -> read"));
}

TEST(RemoteArrive, InitFenceOfAnotherThreadIsNone) {
  EXPECT_THAT(
      misusesOf(run(byThread(0, "mbarrier.init.shared.b64 [bar], 1;\n") +
                    byThread(1, "fence.mbarrier_init.release.cluster;\n") +
                    "barrier.cluster.arrive.relaxed.aligned;\nbarrier.cluster.wait.acquire.aligned;\n" +
                    byCta(0, byThread(0, remoteArrive(1, ".release.cluster"))) +
                    byCta(1, remoteWait(".acquire.cluster")) + kBoth)),
      Contains(Kind::kBarrierInitUnordered));
}

TEST(RemoteArrive, ExpectAndArriveInOne) {
  expectClean(
      run(kReady +
          byCta(0, byThread(0, barrierOf(1, "%r30") +
                                   "mbarrier.arrive.expect_tx.release.cluster.shared::cluster.b64 _, [%r30], "
                                   "64;\n")) +
          byCta(1, byThread(0, test::load(0, 64)) + waitFor(0) + readAt(0)) + kBoth));
}

TEST(RemoteArrive, WhatOnlyTheOwnCtaMayDo) {
  const std::string generic = "mov.u64 %d1, bar;\ncvta.shared.u64 %d1, %d1;\nmapa.u64 %d2, %d1, 1;\n";
  for (const std::string operation :
       {"mbarrier.test_wait.parity.b64 %p1, [%d2], 0;\n", "mbarrier.init.b64 [%d2], 1;\n",
        "mbarrier.inval.b64 [%d2];\n",
        "mbarrier.arrive.b64 %d3, [%d2];\nmbarrier.test_wait.b64 %p1, [bar], %d3;\n",
        "cp.async.mbarrier.arrive.noinc.b64 [%d2];\n"}) {
    EXPECT_THAT(misusesOf(run(kReady + byCta(0, byThread(0, generic + operation)) + kBoth)),
                ElementsAre(Kind::kRemoteBarrierOp))
        << operation;
  }
}

TEST(RemoteArrive, ArriverMayLeaveOnceItsPhaseIsSeen) {
  // CTA 1 waits for the arrival and thus outlives it; no final cluster barrier is needed.
  expectClean(run(kReady + byCta(0, byThread(0, remoteArrive(1, ".release.cluster"))) +
                  byCta(1, remoteWait(".acquire.cluster"))));
}

TEST(RemoteArrive, BarrierThatNobodyDrainsMayBeGone) {
  EXPECT_THAT(misusesOf(run(kReady + byCta(0, byThread(0, remoteArrive(1, ".release.cluster"))))),
              ElementsAre(Kind::kPeerMayHaveExited));
}

TEST(RemoteArrive, DropLowersTheCountOfThePeer) {
  expectClean(
      run(initBarriers({2}) + kBoth +
          byCta(0, byThread(0, barrierOf(1, "%r30") +
                                   "mbarrier.arrive_drop.release.cluster.shared::cluster.b64 _, [%r30];\n")) +
          byCta(1, byThread(0, arrive()) + waitFor(0) + byThread(0, arrive()) + waitFor(1)) + kBoth));
}

}  // namespace
}  // namespace handoff::machine
