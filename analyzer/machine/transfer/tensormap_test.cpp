// SPDX-License-Identifier: Apache-2.0
// Tensor maps that the kernel edits: release, acquire, and who still reads them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analyzer/test_support/async_kernel.h"

namespace handoff::machine {
namespace {

using test::byThread;
using test::byWarp;
using test::expect;
using test::expectClean;
using test::initBarriers;
using test::kBulkCommit;
using test::kBulkReadWait;
using test::kProxyFence;
using test::kSync;
using test::misusesOf;
using test::waitFor;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using Kind = Misuse::Kind;

constexpr unsigned kBox = 1024;

/// Two maps in global memory, at `in` and 128 bytes further on, and one in a parameter.
test::Ran run(const std::string& statements) {
  const TensorMap map{.name = "map", .box_bytes = kBox, .row_bytes = 128};
  return test::run(
      initBarriers({1}) + statements,
      {.block = {64, 1, 1},
       .map_parameters = 1,
       .tensor_maps = {{bufferBase(0), map}, {bufferBase(0) + 128, map}, {test::mapAddress(0), map}}});
}

std::string edit(unsigned at = 0) {
  return "tensormap.replace.tile.global_address.global.b1024.b64 [%in+" + std::to_string(at) + "], %out;\n";
}
constexpr const char* kRelease = "fence.proxy.tensormap::generic.release.gpu;\n";
std::string acquire(unsigned at = 0) {
  return "fence.proxy.tensormap::generic.acquire.gpu [%in+" + std::to_string(at) + "], 128;\n";
}
std::string copyThrough(const std::string& map) {
  return "add.s64 %d9, " + map +
         ";\ncp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [tile], [%d9, "
         "{%r1, %r2}], "
         "[bar];\n";
}
const std::string kCopy = expect(kBox) + copyThrough("%in, 0");
const std::string kWait = waitFor(0);

TEST(TensormapEdit, ReleaseAndAcquireOfOneThread) {
  expectClean(run(byThread(0, edit() + kRelease + acquire() + kCopy) + kWait));
}

TEST(TensormapEdit, ReleaseOfTheEditorAndAcquireOfTheUser) {
  expectClean(run(byThread(32, edit() + kRelease) + kSync + byThread(0, acquire() + kCopy) + kWait));
}

TEST(TensormapEdit, SeveralFieldsUnderOneFence) {
  expectClean(run(byThread(0, edit() + "tensormap.replace.tile.rank.global.b1024.b32 [%in], 1;\n" +
                                  "tensormap.replace.tile.global_dim.global.b1024.b32 [%in], 0, %r1;\n" +
                                  kRelease + acquire() + kCopy) +
                  kWait));
}

TEST(TensormapEdit, WithoutARelease) {
  const test::Ran ran = run(byThread(32, edit()) + kSync + byThread(0, acquire() + kCopy) + kWait);
  ASSERT_THAT(misusesOf(ran), ElementsAre(Kind::kTensormapUnfenced));
  EXPECT_EQ(ran.outcome.misuses[0].value, 0u);
}

TEST(TensormapEdit, WithoutAnAcquire) {
  const test::Ran ran = run(byThread(32, edit() + kRelease) + kSync + byThread(0, kCopy) + kWait);
  ASSERT_THAT(misusesOf(ran), ElementsAre(Kind::kTensormapUnfenced));
  EXPECT_NE(ran.outcome.misuses[0].value, 0u);
}

TEST(TensormapEdit, InOneThreadBothAreNeededToo) {
  EXPECT_THAT(misusesOf(run(byThread(0, edit() + kCopy) + kWait)), ElementsAre(Kind::kTensormapUnfenced));
  EXPECT_THAT(misusesOf(run(byThread(0, edit() + kRelease + kCopy) + kWait)),
              ElementsAre(Kind::kTensormapUnfenced));
}

TEST(TensormapEdit, ReleaseBeforeTheEditIsNone) {
  EXPECT_THAT(
      misusesOf(run(byThread(32, kRelease + edit()) + kSync + byThread(0, acquire() + kCopy) + kWait)),
      ElementsAre(Kind::kTensormapUnfenced));
}

TEST(TensormapEdit, AcquireBeforeTheBarrierIsNone) {
  EXPECT_THAT(misusesOf(run(byThread(32, edit() + kRelease) + byThread(0, acquire()) + kSync +
                            byThread(0, kCopy) + kWait)),
              ElementsAre(Kind::kTensormapUnfenced));
}

TEST(TensormapEdit, ReleaseOfAnotherThreadIsNone) {
  EXPECT_THAT(misusesOf(run(byThread(32, edit()) + byThread(33, kRelease) + kSync +
                            byThread(0, acquire() + kCopy) + kWait)),
              ElementsAre(Kind::kTensormapUnfenced));
}

TEST(TensormapEdit, AcquireOfAnotherThreadOnThePath) {
  expectClean(run(byThread(32, edit() + kRelease) + kSync + byThread(33, acquire()) + kSync +
                  byThread(0, kCopy) + kWait));
}

TEST(TensormapEdit, AcquireOfAnotherMapIsNone) {
  EXPECT_THAT(
      misusesOf(run(byThread(32, edit() + kRelease) + kSync + byThread(0, acquire(128) + kCopy) + kWait)),
      ElementsAre(Kind::kTensormapUnfenced));
}

TEST(TensormapEdit, OtherProxyFencesAreNone) {
  EXPECT_THAT(misusesOf(run(byThread(32, edit() + "fence.proxy.async;\n") + kSync +
                            byThread(0, "fence.proxy.async;\nfence.acq_rel.gpu;\n" + kCopy) + kWait)),
              ElementsAre(Kind::kTensormapUnfenced));
}

TEST(TensormapEdit, OtherMapsAreNotConcerned) {
  expectClean(run(byThread(32, edit(128) + kRelease) + kSync + byThread(0, kCopy) + kWait));
  expectClean(
      run(byThread(32, edit()) + kSync + byThread(0, expect(kBox) + copyThrough("%map0, 0")) + kWait));
}

TEST(TensormapEdit, MapsOfTheHostNeedNothing) {
  expectClean(run(byThread(0, expect(kBox) + copyThrough("%map0, 0")) + kWait));
  expectClean(run(byThread(0, kCopy) + kWait));
}

TEST(TensormapEdit, PublicationFromSharedMemoryIsARelease) {
  const std::string publish =
      "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%in], "
      "[tile+4096], 128;\n";
  const std::string build =
      byThread(32, "tensormap.replace.tile.global_address.shared::cta.b1024.b64 [tile+4096], %out;\n");
  expectClean(run(build + byWarp(1, "bar.warp.sync 0xffffffff;\n" + publish) + kSync +
                  byThread(0, acquire() + kCopy) + kWait));
  EXPECT_THAT(misusesOf(run(build + byWarp(1, "bar.warp.sync 0xffffffff;\n" + publish) + kSync +
                            byThread(0, kCopy) + kWait)),
              ElementsAre(Kind::kTensormapUnfenced));
}

// --- edits of a map in use ---

const std::string kEditAgain = edit() + kRelease + acquire();

TEST(TensormapInUse, AfterTheLoadIsOver) {
  expectClean(run(byThread(0, kCopy + waitFor(0) + kEditAgain + kCopy + waitFor(1))));
}

TEST(TensormapInUse, WhileALoadMayReadIt) {
  EXPECT_THAT(misusesOf(run(byThread(0, kCopy + kEditAgain + waitFor(0)))),
              ElementsAre(Kind::kTensormapInUse));
}

TEST(TensormapInUse, OtherMapsMayBeEdited) {
  EXPECT_THAT(misusesOf(run(byThread(0, kCopy + edit(128) + waitFor(0)))), IsEmpty());
}

TEST(TensormapInUse, OtherThreadsLearnOfItByABarrier) {
  EXPECT_THAT(misusesOf(run(byThread(0, kCopy) + byThread(32, waitFor(0) + kEditAgain))), IsEmpty());
  EXPECT_THAT(misusesOf(run(byThread(0, kCopy + waitFor(0)) + kSync + byThread(32, kEditAgain))), IsEmpty());
  EXPECT_THAT(misusesOf(run(byThread(0, kCopy) + kSync + byThread(32, kEditAgain) + waitFor(0))),
              ElementsAre(Kind::kTensormapInUse));
}

TEST(TensormapInUse, StoresReadItUntilTheirReadWait) {
  const std::string store =
      "st.shared.u32 [tile], %r1;\n" + std::string(kProxyFence) +
      "cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%in, {%r1, %r2}], [tile];\n" + kBulkCommit;
  EXPECT_THAT(misusesOf(run(byThread(0, store + kBulkReadWait + kEditAgain))), IsEmpty());
  EXPECT_THAT(misusesOf(run(byThread(0, store + kEditAgain + kBulkReadWait))),
              ElementsAre(Kind::kTensormapInUse));
}

}  // namespace
}  // namespace handoff::machine
