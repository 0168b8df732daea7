// SPDX-License-Identifier: Apache-2.0
// Tensor copies: what a box weighs, whether the launch says so or the barriers do.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analyzer/test_support/async_kernel.h"

namespace handoff::machine {
namespace {

using test::arrive;
using test::barrierOf;
using test::byCta;
using test::byThread;
using test::conflictsOf;
using test::expect;
using test::expectClean;
using test::initBarriers;
using test::kBulkCommit;
using test::kBulkReadWait;
using test::kClusterSync;
using test::kProxyFence;
using test::kReadOwn;
using test::kSync;
using test::limitsOf;
using test::misusesOf;
using test::stuckOf;
using test::waitFor;
using test::writeAt;
using ::testing::Contains;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using Kind = Misuse::Kind;

constexpr unsigned kBox = 1024;  ///< 16 bytes of each of 64 threads

/// %map0 with a box of 1 KiB in rows of 128 bytes.
test::Ran run(const std::string& statements, std::uint32_t ctas = 1) {
  return test::run(
      statements,
      {.block = {64, 1, 1},
       .grid = {ctas, 1, 1},
       .cluster = {ctas, 1, 1},
       .map_parameters = 2,
       .tensor_maps = {{test::mapAddress(0), {.name = "map", .box_bytes = kBox, .row_bytes = 128}}}});
}
/// Nothing says how large the boxes of %map0 and %map1 are.
test::Ran runUnknown(const std::string& statements) {
  return test::run(statements, {.block = {64, 1, 1}, .map_parameters = 2});
}

std::string load(unsigned to, unsigned barrier = 0, unsigned map = 0) {
  return "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [tile+" +
         std::to_string(to) + "], [%map" + std::to_string(map) + ", {%r1, %r2}], [bar+" +
         std::to_string(8 * barrier) + "];\n";
}
std::string store(unsigned from, unsigned map = 0) {
  return "cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%map" + std::to_string(map) +
         ", {%r1, %r2}], [tile+" + std::to_string(from) + "];\n";
}

// --- boxes that the launch describes ---

TEST(TensorLoad, BarrierExpectsTheBox) {
  expectClean(run(initBarriers({1}) + byThread(0, expect(kBox) + load(0)) + waitFor(0) + kReadOwn));
  EXPECT_THAT(misusesOf(run(initBarriers({1}) + byThread(0, expect(kBox / 2) + load(0)) + waitFor(0))),
              Contains(Kind::kByteMismatch));
}

TEST(TensorLoad, FillsTheWholeBox) {
  EXPECT_THAT(conflictsOf(run(initBarriers({1}) + byThread(0, expect(kBox) + load(0) + writeAt(kBox - 16)) +
                              waitFor(0))),
              ElementsAre("bulk -> write"));
  expectClean(run(initBarriers({1}) + byThread(0, expect(kBox) + load(0) + writeAt(kBox)) + waitFor(0)));
}

TEST(TensorLoad, SeveralBoxesUnderOneBarrier) {
  expectClean(run(initBarriers({1}) + byThread(0, expect(3 * kBox) + load(0) + load(1024) + load(2048)) +
                  waitFor(0)));
}

TEST(TensorLoad, SharedAddressIsAMultipleOf128) {
  EXPECT_THAT(misusesOf(run(initBarriers({1}) + byThread(0, expect(kBox) + load(64)) + waitFor(0))),
              ElementsAre(Kind::kMisalignedDestination));
  EXPECT_THAT(misusesOf(run(initBarriers({1}) + byThread(0, expect(kBox) + load(128)) + waitFor(0))),
              IsEmpty());
}

TEST(TensorLoad, GatherMovesFourRows) {
  const std::string gather =
      "cp.async.bulk.tensor.2d.shared::cta.global.tile::gather4.mbarrier::complete_tx::bytes [tile], [%map0, "
      "{%r1, %r2, "
      "%r3, %r4, %r5}], [bar];\n";
  expectClean(run(initBarriers({1}) + byThread(0, expect(4 * 128) + gather) + waitFor(0)));
}

TEST(TensorLoad, DimensionsAndImageForms) {
  for (const std::string copy : {"cp.async.bulk.tensor.1d.shared::cluster.global.tile.mbarrier::complete_tx::"
                                 "bytes [tile], [%map0, {%r1}], [bar];\n",
                                 "cp.async.bulk.tensor.5d.shared::cta.global.mbarrier::complete_tx::bytes "
                                 "[tile], [%map0, {%r1, %r2, %r3, %r4, "
                                 "%r5}], [bar];\n",
                                 "cp.async.bulk.tensor.4d.shared::cluster.global.im2col.mbarrier::complete_"
                                 "tx::bytes [tile], [%map0, {%r1, %r2, "
                                 "%r3, %r4}], [bar], {%h1, %h2};\n",
                                 "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::"
                                 "bytes.L2::cache_hint [tile], [%map0, "
                                 "{%r1, %r2}], [bar], %d1;\n"}) {
    expectClean(run(initBarriers({1}) + byThread(0, expect(kBox) + copy) + waitFor(0) + kReadOwn));
  }
}

TEST(TensorLoad, PrefetchesAreOnlyHints) {
  expectClean(run(
      "cp.async.bulk.prefetch.tensor.2d.L2.global.tile [%map0, {%r1, %r2}];\nprefetch.tensormap [%map0];\n"));
}

TEST(TensorLoad, MulticastWritesABoxIntoEachCta) {
  const std::string copy =
      "mov.u16 %h1, 3;\ncp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes."
      "multicast::cluster [tile], [%map0, {%r1, %r2}], [bar], %h1;\n";
  expectClean(run(initBarriers({1}) + kClusterSync + byThread(0, expect(kBox)) + byCta(0, byThread(0, copy)) +
                      waitFor(0) + kReadOwn + kClusterSync,
                  2));
}

TEST(TensorLoad, PairMaySignalTheLeader) {
  const auto by = [](const std::string& group) {
    const std::string copy = barrierOf(0, "%r30") + "cp.async.bulk.tensor.2d.shared::cluster.global.tile." +
                             "mbarrier::complete_tx::bytes" + group +
                             " [tile], [%map0, {%r1, %r2}], [%r30];\n";
    return run(initBarriers({1}) + kClusterSync + byCta(0, byThread(0, expect(2 * kBox))) +
                   byThread(0, copy) + byCta(0, waitFor(0)) + kClusterSync,
               2);
  };
  expectClean(by(".cta_group::2"));
  EXPECT_THAT(misusesOf(by("")), ElementsAre(Kind::kWrongSpace));
}

const std::string kFilled =
    "st.shared.v4.u32 [%s], {%r1, %r2, %r3, %r4};\n" + std::string(kProxyFence) + kSync;

TEST(TensorStore, ReadsTheWholeBox) {
  expectClean(run(kFilled + byThread(0, store(0) + kBulkCommit + kBulkReadWait + writeAt(0))));
  for (const unsigned at : {0u, kBox - 16}) {
    EXPECT_THAT(conflictsOf(run(kFilled + byThread(0, store(0) + kBulkCommit + writeAt(at) + kBulkReadWait))),
                ElementsAre("bulk -> write"));
  }
  expectClean(run(kFilled + byThread(0, store(0) + kBulkCommit + writeAt(kBox) + kBulkReadWait)));
}

TEST(TensorStore, NeedsAFenceAndADrain) {
  EXPECT_THAT(conflictsOf(run("st.shared.u32 [%s], %r1;\n" + std::string(kSync) +
                              byThread(0, store(0) + kBulkCommit + kBulkReadWait))),
              ElementsAre("!write -> bulk"));
  EXPECT_THAT(misusesOf(run(kFilled + byThread(0, store(0) + kBulkCommit))),
              ElementsAre(Kind::kUndrainedAtExit));
  EXPECT_THAT(misusesOf(run(kFilled + byThread(0, store(0) + kBulkReadWait))),
              ElementsAre(Kind::kUndrainedAtExit));
}

TEST(TensorStore, ReductionsTheSame) {
  const std::string reduce =
      "cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.tile.bulk_group [%map0, {%r1, %r2}], "
      "[tile];\n" +
      std::string(kBulkCommit);
  expectClean(run(kFilled + byThread(0, reduce + kBulkReadWait)));
  EXPECT_THAT(conflictsOf(run(kFilled + byThread(0, reduce + writeAt(0) + kBulkReadWait))),
              ElementsAre("bulk -> write"));
}

TEST(TensorStore, SharedAddressIsAMultipleOf128) {
  EXPECT_THAT(misusesOf(run(kFilled + byThread(0, store(64) + kBulkCommit + kBulkReadWait))),
              ElementsAre(Kind::kMisalignedSharedSource));
}

// --- boxes that only the barriers know ---

TEST(TensorBox, IsWhatTheBarrierExpects) {
  const test::Ran ran =
      runUnknown(initBarriers({1}) + byThread(0, expect(kBox) + load(0)) + waitFor(0) + kReadOwn);
  EXPECT_THAT(test::rulesOf(ran), IsEmpty());
  EXPECT_THAT(limitsOf(ran), ElementsAre(HasSubstr("1024 bytes are assumed")));
}

TEST(TensorBox, OtherRulesAreCheckedWithIt) {
  EXPECT_THAT(conflictsOf(runUnknown(initBarriers({1}) +
                                     byThread(0, expect(kBox) + load(0) + writeAt(kBox - 16)) + waitFor(0))),
              ElementsAre("bulk -> write"));
  EXPECT_THAT(conflictsOf(runUnknown(initBarriers({1}) + byThread(0, expect(kBox) + load(0) + writeAt(kBox)) +
                                     waitFor(0))),
              IsEmpty());
}

TEST(TensorBox, TwoMapsOfDifferentBoxes) {
  // bar[0] and bar[1] for two stages of A (2 KiB) and B (1 KiB).
  const std::string stages = byThread(0, expect(3072, 0) + load(0, 0, 0) + load(4096, 0, 1) +
                                             expect(3072, 1) + load(2048, 1, 0) + load(5120, 1, 1));
  const test::Ran ran = runUnknown(initBarriers({1, 1}) + stages + waitFor(0, 0) + waitFor(0, 1));
  EXPECT_THAT(test::rulesOf(ran), IsEmpty());
  EXPECT_THAT(limitsOf(ran), ::testing::UnorderedElementsAre(
                                 HasSubstr("2048 bytes are assumed"), HasSubstr("2048 bytes are assumed"),
                                 HasSubstr("1024 bytes are assumed"), HasSubstr("1024 bytes are assumed")));
}

TEST(TensorBox, RingGoesOnWithIt) {
  // Two slots, six turns; thread 0 fills, all read and release.
  const auto ring = [](const std::string& release) {
    return initBarriers({1, 1, 64, 64}) + R"(
mov.u32 %r1, 0;
LOOP:
and.b32 %r4, %r1, 1;
shr.u32 %r5, %r1, 1;
and.b32 %r5, %r5, 1;
mov.u32 %r6, bar;
mad.lo.u32 %r7, %r4, 8, %r6;
mov.u32 %r8, tile;
mad.lo.u32 %r8, %r4, 1024, %r8;
setp.ne.u32 %p1, %t, 0;
@%p1 bra FULL;
xor.b32 %r9, %r5, 1;
EMPTY:
mbarrier.try_wait.parity.shared.b64 %p2, [%r7+16], %r9;
@!%p2 bra EMPTY;
mbarrier.arrive.expect_tx.shared.b64 _, [%r7], 1024;
cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%r8], [%map0, {%r1, %r1}], [%r7];
FULL:
mbarrier.try_wait.parity.shared.b64 %p2, [%r7], %r5;
@!%p2 bra FULL;
mad.lo.u32 %r8, %t, 16, %r8;
ld.shared.u32 %r10, [%r8];
)" + release +
           R"(
add.u32 %r1, %r1, 1;
setp.lt.u32 %p3, %r1, 6;
@%p3 bra LOOP;
)";
  };
  const test::Ran ran =
      runUnknown(ring("fence.proxy.async.shared::cta;\nmbarrier.arrive.shared.b64 _, [%r7+16];\n"));
  EXPECT_THAT(test::rulesOf(ran), IsEmpty());
  EXPECT_THAT(limitsOf(ran), ElementsAre(HasSubstr("1024 bytes are assumed")));
  EXPECT_THAT(stuckOf(runUnknown(ring(""))), Not(IsEmpty())) << "a hang is found with it, too";
}

TEST(TensorBox, MapThatOnlyStoresFillsItsSlot) {
  const test::Ran ran =
      runUnknown(kFilled + byThread(0, store(0) + store(512) + kBulkCommit + writeAt(1024) + kBulkReadWait));
  EXPECT_THAT(limitsOf(ran), Each(HasSubstr("assumed")));
  EXPECT_THAT(misusesOf(ran), IsEmpty());
}

TEST(TensorBox, WithoutAnythingToGoByItIsALimit) {
  // Nobody expects a byte.
  const test::Ran ran = runUnknown(initBarriers({1}) + byThread(0, arrive() + load(0)) + waitFor(0));
  EXPECT_THAT(limitsOf(ran), Contains(HasSubstr("name it with")));
  EXPECT_THAT(test::rulesOf(ran), IsEmpty());
}

TEST(TensorBox, UnknownMapAddressIsALimit) {
  const test::Ran ran = runUnknown(
      initBarriers({1}) +
      byThread(0, expect(kBox) + "cvt.u64.u32 %d9, %u;\ncp.async.bulk.tensor.2d.shared::cluster.global.tile."
                                 "mbarrier::complete_tx::bytes [tile], [%d9, {%r1, %r2}], [bar];\n") +
      waitFor(0));
  EXPECT_THAT(limitsOf(ran), Not(IsEmpty()));
  EXPECT_THAT(test::rulesOf(ran), IsEmpty());
}

}  // namespace
}  // namespace handoff::machine
