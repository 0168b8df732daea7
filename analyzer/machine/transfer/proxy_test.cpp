// SPDX-License-Identifier: Apache-2.0
// Generic and async proxy: which pairs of accesses need a fence between them, and where it may stand (PTX
// ISA, "Proxies", "Async Proxy", "membar, fence").
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analyzer/test_support/async_kernel.h"

namespace handoff::machine {
namespace {

using test::arrive;
using test::byLane;
using test::byThread;
using test::byWarp;
using test::conflictsOf;
using test::expect;
using test::expectClean;
using test::initBarriers;
using test::kBulkCommit;
using test::kBulkReadWait;
using test::kBulkWait;
using test::kProxyFence;
using test::kReadOwn;
using test::kSync;
using test::kWriteOwn;
using test::load;
using test::readAt;
using test::store;
using test::waitFor;
using test::writeAt;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr unsigned kTile = 1024;  ///< 16 bytes of each of 64 threads

test::Ran run(const std::string& statements) { return test::run(statements, {.block = {64, 1, 1}}); }
std::vector<std::string> conflicts(const std::string& statements) { return conflictsOf(run(statements)); }

/// Races, and not a fence that is missing.
::testing::Matcher<std::vector<std::string>> isUnordered() {
  return ::testing::AllOf(::testing::Not(IsEmpty()),
                          ::testing::Each(::testing::Not(::testing::StartsWith("!"))));
}

const std::string kStoreTile = store(0, kTile) + kBulkCommit + kBulkReadWait;

/// Fences that cover shared memory of the own CTA, and fences that do not.
const std::vector<std::string> kSharedFences = {"fence.proxy.async;\n", "fence.proxy.async.shared::cta;\n",
                                                "fence.proxy.async.shared::cluster;\n"};
const std::vector<std::string> kNoSharedFences = {"",
                                                  "fence.proxy.async.global;\n",
                                                  "fence.proxy.alias;\n",
                                                  "fence.acq_rel.cta;\n",
                                                  "fence.sc.gpu;\n",
                                                  "membar.sys;\n",
                                                  "fence.mbarrier_init.release.cluster;\n",
                                                  "bar.sync 1;\n"};

// --- generic write, then an async read ---

TEST(WriteThenAsyncRead, FenceOfEveryWriter) {
  for (const std::string& fence : kSharedFences)
    expectClean(run(kWriteOwn + fence + kSync + byThread(0, kStoreTile)));
}

TEST(WriteThenAsyncRead, FenceOfTheIssuer) {
  for (const std::string& fence : kSharedFences)
    expectClean(run(kWriteOwn + (kSync + byThread(0, fence + kStoreTile))));
}

TEST(WriteThenAsyncRead, OtherFencesAreNone) {
  for (const std::string& fence : kNoSharedFences) {
    EXPECT_THAT(conflicts(kWriteOwn + fence + kSync + byThread(0, fence + kStoreTile)),
                ElementsAre("!write -> bulk"))
        << fence;
  }
}

TEST(WriteThenAsyncRead, FenceBeforeTheWriteIsTooEarly) {
  EXPECT_THAT(conflicts(kProxyFence + std::string(kWriteOwn) + kSync + byThread(0, kStoreTile)),
              ElementsAre("!write -> bulk"));
}

TEST(WriteThenAsyncRead, FenceAfterTheIssueIsTooLate) {
  EXPECT_THAT(conflicts(kWriteOwn + std::string(kSync) + byThread(0, kStoreTile + kProxyFence)),
              ElementsAre("!write -> bulk"));
}

TEST(WriteThenAsyncRead, FenceOfTheIssuerBeforeItAcquires) {
  EXPECT_THAT(conflicts(kWriteOwn + byThread(0, kProxyFence) + kSync + byThread(0, kStoreTile)),
              ElementsAre("!write -> bulk"));
}

TEST(WriteThenAsyncRead, FenceOfAnUninvolvedThread) {
  // Warp 1 neither wrote nor hands anything on.
  EXPECT_THAT(conflicts(byWarp(0, kWriteOwn) + kSync + byWarp(1, kProxyFence) +
                        byThread(0, store(0, 512) + kBulkCommit + kBulkReadWait)),
              ElementsAre("!write -> bulk"));
}

TEST(WriteThenAsyncRead, FenceOfAThreadOnThePath) {
  // Warp 1 acquires, fences, and releases to the issuer.
  expectClean(run(byWarp(0, kWriteOwn) + kSync + byWarp(1, kProxyFence) + kSync +
                  byThread(0, store(0, 512) + kBulkCommit + kBulkReadWait)));
}

TEST(WriteThenAsyncRead, OneWriterWithoutAFence) {
  EXPECT_THAT(conflicts(kWriteOwn + byWarp(0, kProxyFence) + kSync + byThread(0, kStoreTile)),
              ElementsAre("!write -> bulk"));
}

TEST(WriteThenAsyncRead, InOneThreadItIsNeededToo) {
  const std::string after = store(0, 16) + kBulkCommit + kBulkReadWait;
  expectClean(run(byThread(0, writeAt(0) + kProxyFence + after)));
  EXPECT_THAT(conflicts(byThread(0, writeAt(0) + after)), ElementsAre("!write -> bulk"));
}

TEST(WriteThenAsyncRead, FenceWithoutABarrierOrdersNothing) {
  EXPECT_THAT(conflicts(kWriteOwn + std::string(kProxyFence) + byThread(0, kStoreTile)), isUnordered());
}

TEST(WriteThenAsyncRead, HandedOverByAnMbarrier) {
  const auto by = [](const std::string& writer, const std::string& issuer) {
    return conflicts(initBarriers({64}) + kWriteOwn + writer + arrive() +
                     byThread(0, waitFor(0) + issuer + kStoreTile));
  };
  EXPECT_THAT(by(kProxyFence, ""), IsEmpty());
  EXPECT_THAT(by("", kProxyFence), IsEmpty());
  EXPECT_THAT(by("", ""), ElementsAre("!write -> bulk"));
}

TEST(WriteThenAsyncRead, HandedOverByAWarpBarrier) {
  const auto by = [](const std::string& writer) {
    return conflicts(byWarp(0, kWriteOwn + writer + "bar.warp.sync 0xffffffff;\n" +
                                   byLane(0, store(0, 512) + kBulkCommit + kBulkReadWait)));
  };
  EXPECT_THAT(by(kProxyFence), IsEmpty());
  EXPECT_THAT(by(""), ElementsAre("!write -> bulk"));
}

TEST(WriteThenAsyncRead, StmatrixAndAtomicsAreGenericWrites) {
  const std::string stmatrix = "stmatrix.sync.aligned.m8n8.x4.shared.b16 [%s], {%r1, %r2, %r3, %r4};\n";
  const std::string atomic = "atom.shared.add.u32 %r1, [%s], 1;\n";
  for (const std::string& write : {stmatrix, atomic}) {
    EXPECT_THAT(conflicts(write + kProxyFence + kSync + byThread(0, kStoreTile)), IsEmpty()) << write;
    EXPECT_THAT(conflicts(write + kSync + byThread(0, kStoreTile)), ::testing::Not(IsEmpty())) << write;
  }
}

TEST(WriteThenAsyncRead, ReductionsReadLikeStores) {
  const std::string reduce =
      "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%out], [tile], 1024;\n" +
      std::string(kBulkCommit) + kBulkReadWait;
  expectClean(run(kWriteOwn + std::string(kProxyFence) + kSync + byThread(0, reduce)));
  EXPECT_THAT(conflicts(kWriteOwn + std::string(kSync) + byThread(0, reduce)), ElementsAre("!write -> bulk"));
}

TEST(WriteThenAsyncRead, OnlyWhatTheOperationReads) {
  expectClean(
      run(kWriteOwn + std::string(kSync) + byThread(0, store(4096, 512) + kBulkCommit + kBulkReadWait)));
}

// --- cp.async is of the generic proxy ---

TEST(CopyThenAsyncRead, FenceAfterTheWait) {
  const std::string copied = std::string(test::kCopy) + "cp.async.wait_all;\n";
  expectClean(run(copied + kProxyFence + kSync + byThread(0, kStoreTile)));
  expectClean(run(copied + kSync + byThread(0, kProxyFence + kStoreTile)));
  EXPECT_THAT(conflicts(copied + kSync + byThread(0, kStoreTile)), ElementsAre("!copy -> bulk"));
}

TEST(CopyThenAsyncRead, FenceBeforeTheWaitDoesNotCoverTheCopy) {
  EXPECT_THAT(conflicts(test::kCopy + std::string(kProxyFence) + "cp.async.wait_all;\n" + kSync +
                        byThread(0, kStoreTile)),
              ElementsAre("!copy -> bulk"));
}

TEST(CopyThenAsyncRead, HandedOverByItsOwnArrival) {
  const std::string arrived =
      initBarriers({64}) + test::kCopy + "cp.async.mbarrier.arrive.noinc.shared.b64 [bar];\n";
  EXPECT_THAT(conflicts(arrived + byThread(0, waitFor(0) + kProxyFence + kStoreTile)), IsEmpty());
  EXPECT_THAT(conflicts(arrived + byThread(0, waitFor(0) + kStoreTile)), ElementsAre("!copy -> bulk"));
}

TEST(CopyThenAsyncRead, WithoutAWaitItIsARaceAndNoQuestionOfFences) {
  EXPECT_THAT(conflicts(test::kCopy + std::string(kProxyFence) + kSync + byThread(0, kStoreTile) +
                        "cp.async.wait_all;\n"),
              ElementsAre("copy -> bulk"));
}

// --- what an async operation has written ---

const std::string kLoaded = initBarriers({1}) + byThread(0, expect(kTile) + load(0, kTile)) + waitFor(0);

TEST(AsyncWriteThen, GenericAccessesNeedNoFence) {
  expectClean(run(kLoaded + kReadOwn));
  expectClean(run(kLoaded + kWriteOwn));
  expectClean(run(kLoaded + "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r1, %r2, %r3, %r4}, [%s];\n"));
}

TEST(AsyncWriteThen, CpAsyncNeedsNone) { expectClean(run(kLoaded + test::kCopy + "cp.async.wait_all;\n")); }

TEST(AsyncWriteThen, AsyncReadNeedsNone) { expectClean(run(kLoaded + byThread(0, kStoreTile))); }

TEST(AsyncWriteThen, AsyncWriteNeedsNone) {
  expectClean(run(kLoaded + kSync + byThread(0, expect(kTile) + load(0, kTile)) + waitFor(1)));
}

TEST(AsyncWriteThen, GlobalResultIsReadWithoutAFence) {
  expectClean(run(kWriteOwn + std::string(kProxyFence) + kSync +
                  byThread(0, store(0, kTile) + kBulkCommit + kBulkWait) + kSync +
                  "ld.global.u32 %r1, [%out];\n"));
}

// --- after an async read ---

const std::string kStored = std::string(kWriteOwn) + kProxyFence + kSync + byThread(0, kStoreTile) + kSync;

TEST(AsyncReadThen, GenericWriteNeedsNoFence) { expectClean(run(kStored + kWriteOwn)); }

TEST(AsyncReadThen, AsyncWriteNeedsNone) {
  expectClean(run(initBarriers({1}) + kStored + byThread(0, expect(kTile) + load(0, kTile)) + waitFor(0)));
}

// --- generic read, then an async write ---

/// Everybody reads the tile; `release`, then thread 0 refills it.
std::string refill(const std::string& release) {
  return initBarriers({1, 64}) + byThread(0, expect(kTile) + load(0, kTile)) + waitFor(0) + kReadOwn +
         release + byThread(0, waitFor(0, 1) + expect(kTile) + load(0, kTile) + waitFor(1));
}

TEST(ReadThenAsyncWrite, FenceOfEachReaderBeforeItsArrival) {
  for (const std::string& fence : kSharedFences)
    EXPECT_THAT(conflicts(refill(fence + arrive(1))), IsEmpty()) << fence;
}

TEST(ReadThenAsyncWrite, ArrivalAloneIsNotEnough) {
  EXPECT_THAT(conflicts(refill(arrive(1))), ElementsAre("!read -> bulk"));
  EXPECT_THAT(conflicts(refill("fence.proxy.async.global;\n" + arrive(1))), ElementsAre("!read -> bulk"));
}

TEST(ReadThenAsyncWrite, FenceOfTheIssuerWillDo) {
  EXPECT_THAT(
      conflicts(initBarriers({1, 64}) + byThread(0, expect(kTile) + load(0, kTile)) + waitFor(0) + kReadOwn +
                arrive(1) +
                byThread(0, waitFor(0, 1) + kProxyFence + expect(kTile) + load(0, kTile) + waitFor(1))),
      IsEmpty());
}

TEST(ReadThenAsyncWrite, FenceOfTheArrivingLaneDoesNotCoverTheOthers) {
  // DeepEP's bug: each lane reads, one lane of each warp fences and arrives.
  const auto by = [](const std::string& everybody, const std::string& leader) {
    return conflicts(initBarriers({1, 2}) + byThread(0, expect(kTile) + load(0, kTile)) + waitFor(0) +
                     kReadOwn + everybody + "bar.warp.sync 0xffffffff;\n" + byLane(0, leader + arrive(1)) +
                     byThread(0, waitFor(0, 1) + expect(kTile) + load(0, kTile) + waitFor(1)));
  };
  EXPECT_THAT(by(kProxyFence, ""), IsEmpty());
  EXPECT_THAT(by("", ""), ElementsAre("!read -> bulk"));
}

TEST(ReadThenAsyncWrite, FenceBeforeTheReadIsTooEarly) {
  EXPECT_THAT(conflicts(initBarriers({1, 64}) + byThread(0, expect(kTile) + load(0, kTile)) + waitFor(0) +
                        kProxyFence + kReadOwn + arrive(1) +
                        byThread(0, waitFor(0, 1) + expect(kTile) + load(0, kTile) + waitFor(1))),
              ElementsAre("!read -> bulk"));
}

TEST(ReadThenAsyncWrite, InOneThreadItIsNeededToo) {
  const auto by = [](const std::string& between) {
    return conflicts(initBarriers({1}) + byThread(0, expect(16) + load(0, 16) + waitFor(0) + readAt(0) +
                                                         between + expect(16) + load(0, 16) + waitFor(1)));
  };
  EXPECT_THAT(by(kProxyFence), IsEmpty());
  EXPECT_THAT(by(""), ElementsAre("!read -> bulk"));
}

TEST(ReadThenAsyncWrite, WhatMakesTheThreadNeedItsLoadsIsAsGood) {
  // A block barrier, or a wait for another phase: no load outlasts it.
  EXPECT_THAT(conflicts(refill(kSync + arrive(1))), IsEmpty());
  EXPECT_THAT(conflicts(initBarriers({1, 64, 64}) + byThread(0, expect(kTile) + load(0, kTile)) + waitFor(0) +
                        kReadOwn + arrive(2) + waitFor(0, 2) + arrive(1) +
                        byThread(0, waitFor(0, 1) + expect(kTile) + load(0, kTile) + waitFor(1))),
              IsEmpty());
}

TEST(ReadThenAsyncWrite, WarpBarrierIsNotAsGood) {
  EXPECT_THAT(conflicts(refill("bar.warp.sync 0xffffffff;\n" + arrive(1))), ElementsAre("!read -> bulk"));
}

TEST(ReadThenAsyncWrite, UnorderedIsARaceAndNoQuestionOfFences) {
  EXPECT_THAT(conflicts(initBarriers({1, 64}) + byThread(0, expect(kTile) + load(0, kTile)) + waitFor(0) +
                        kReadOwn + kProxyFence + byThread(0, expect(kTile) + load(0, kTile)) + waitFor(1)),
              isUnordered());
}

// --- generic write, then an async write ---

TEST(WriteThenAsyncWrite, NeedsAFence) {
  const auto by = [](const std::string& writer, const std::string& issuer) {
    return conflicts(initBarriers({1}) + kWriteOwn + writer + kSync +
                     byThread(0, issuer + expect(kTile) + load(0, kTile)) + waitFor(0));
  };
  EXPECT_THAT(by("", ""), ElementsAre("!write -> bulk"));
  for (const std::string& fence : kSharedFences) {
    EXPECT_THAT(by(fence, ""), IsEmpty()) << fence;
    EXPECT_THAT(by("", fence), IsEmpty()) << fence;
  }
  for (const std::string& fence : kNoSharedFences)
    EXPECT_THAT(by(fence, ""), ElementsAre("!write -> bulk")) << fence;
}

TEST(WriteThenAsyncWrite, BlockBarrierDoesNotReplaceIt) {
  // Unlike after a load: a store may still be on its way.
  EXPECT_THAT(conflicts(initBarriers({1}) + kWriteOwn + kSync + kSync +
                        byThread(0, expect(kTile) + load(0, kTile)) + waitFor(0)),
              ElementsAre("!write -> bulk"));
}

// --- global memory ---

const std::string kWriteIn = "st.global.u32 [%in], %r1;\n";
std::string loadIn(const std::string& fence) {
  return byThread(0, fence + expect(64) + load(0, 64) + waitFor(0));
}

TEST(GlobalWriteThenBulkLoad, FenceOfTheRightSpace) {
  for (const std::string fence : {"fence.proxy.async;\n", "fence.proxy.async.global;\n"}) {
    EXPECT_THAT(conflicts(initBarriers({1}) + byThread(5, kWriteIn + fence) + kSync + loadIn("")), IsEmpty())
        << fence;
    EXPECT_THAT(conflicts(initBarriers({1}) + byThread(5, kWriteIn) + kSync + loadIn(fence)), IsEmpty())
        << fence;
  }
}

TEST(GlobalWriteThenBulkLoad, NoFenceOrOneForSharedMemory) {
  for (const std::string fence :
       {"", "fence.proxy.async.shared::cta;\n", "fence.proxy.async.shared::cluster;\n",
        "fence.acq_rel.gpu;\n", "membar.gl;\n"}) {
    EXPECT_THAT(conflicts(initBarriers({1}) + byThread(5, kWriteIn) + kSync + loadIn(fence)),
                ElementsAre("!write -> bulk"))
        << fence;
  }
}

TEST(GlobalWriteThenBulkLoad, WithoutABarrierItIsARace) {
  EXPECT_THAT(conflicts(initBarriers({1}) + byThread(40, kWriteIn + "fence.proxy.async;\n") + loadIn("")),
              isUnordered());
}

TEST(GlobalWriteThenBulkLoad, CpAsyncIsGenericAndNeedsNone) {
  EXPECT_THAT(conflicts(byThread(5, kWriteIn) + kSync +
                        byThread(0, "cp.async.cg.shared.global [tile], [%in], 16;\ncp.async.wait_all;\n")),
              IsEmpty());
}

TEST(GlobalWriteThenBulkStore, NeedsAFenceToo) {
  const auto by = [](const std::string& fence) {
    return conflicts(
        kWriteOwn + std::string(kProxyFence) + kSync +
        byThread(0, "st.global.u32 [%out], %r1;\n" + fence + store(0, kTile) + kBulkCommit + kBulkWait));
  };
  EXPECT_THAT(by("fence.proxy.async.global;\n"), IsEmpty());
  EXPECT_THAT(by(""), ElementsAre("!write -> bulk"));
}

// --- what needs none at all ---

TEST(NoFence, InitialisedBarrierOfABulkCopy) {
  expectClean(
      run(byThread(0, "mbarrier.init.shared.b64 [bar], 1;\n" + expect(64) + load(0, 64) + waitFor(0))));
}

TEST(NoFence, SurplusOnesAreHarmless) {
  expectClean(
      run("fence.proxy.async;\n" + kLoaded + "fence.proxy.async;\nfence.proxy.async.global;\n" + kReadOwn));
}

TEST(NoFence, DifferentBytes) {
  expectClean(run(initBarriers({1}) + "st.shared.u32 [tile+4096], %r1;\n" + kSync +
                  byThread(0, expect(kTile) + load(0, kTile)) + waitFor(0) + kReadOwn));
}

// --- the one-way pair of a hand-over in the cluster ---

TEST(OneWayFence, ReleaseOfTheWriterAndAcquireOfTheIssuer) {
  expectClean(run(kWriteOwn +
                  std::string("fence.proxy.async::generic.release.sync_restrict::shared::cta.cluster;\n") +
                  kSync +
                  byThread(0, "fence.proxy.async::generic.acquire.sync_restrict::shared::cluster.cluster;\n" +
                                  kStoreTile)));
}

}  // namespace
}  // namespace handoff::machine
