// SPDX-License-Identifier: Apache-2.0
// Findings about transactions, phases, proxies, clusters and tensor cores: which rule, how severe, where, in
// which words.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analyzer/diagnose/rule.h"
#include "analyzer/machine/address.h"
#include "analyzer/test_support/async_kernel.h"

namespace handoff::diagnose {
namespace {

using test::arrive;
using test::barrierOf;
using test::byCta;
using test::byThread;
using test::byWarp;
using test::expect;
using test::initBarriers;
using test::kBulkCommit;
using test::kBulkReadWait;
using test::kClusterSync;
using test::kProxyFence;
using test::kReadOwn;
using test::kSync;
using test::kWriteOwn;
using test::load;
using test::readAt;
using test::store;
using test::tileOf;
using test::waitFor;
using test::writeAt;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

constexpr unsigned kTile = 1024;  ///< 16 bytes of each of 64 threads

std::vector<Diagnosis> diagnoses(const std::string& statements,
                                 const test::Setup& setup = {.block = {64, 1, 1}}) {
  return test::run(statements, setup).diagnoses();
}
/// Two CTAs of one warp.
std::vector<Diagnosis> inCluster(const std::string& statements) {
  return diagnoses(statements, {.grid = {2, 1, 1}, .cluster = {2, 1, 1}});
}
/// The only finding that is no consequence of another one.
Finding only(std::vector<Diagnosis> all) {
  std::erase_if(all, [](const Diagnosis& diagnosis) { return diagnosis.finding.may_follow; });
  EXPECT_THAT(all, SizeIs(1));
  for (const Diagnosis& diagnosis : all)
    SCOPED_TRACE(diagnosis.finding.rule + ": " + diagnosis.finding.message);
  return all.empty() ? Finding{} : all.front().finding;
}
/// The opcode that a diagnosis points at.
std::string opcodeAt(const std::string& statements, const test::Setup& setup = {.block = {64, 1, 1}}) {
  const test::Ran ran = test::run(statements, setup);
  const auto all = ran.diagnoses();
  return all.empty() ? "" : ran.program.function.instructions[all.front().primary_instr].opcode;
}

// --- transaction bytes ---

TEST(TransactionFindings, TooManyExpectedNamesBothNumbers) {
  const Finding finding =
      only(diagnoses(initBarriers({1}) + byThread(0, expect(2048) + load(0, kTile)) + waitFor(0)));
  EXPECT_EQ(finding.rule, "tx-count-mismatch");
  EXPECT_EQ(finding.severity, Severity::kError);
  EXPECT_THAT(finding.message,
              HasSubstr("'bar, byte 0' expects 2048 bytes in a phase, but the copies of that phase bring "
                        "1024: the phase never completes"));
  ASSERT_THAT(finding.related, Not(IsEmpty()));
  EXPECT_THAT(finding.related[0].message, HasSubstr("a copy of that phase"));
}

TEST(TransactionFindings, TooFewExpectedNamesBothNumbers) {
  const auto all = diagnoses(initBarriers({1}) + byThread(0, expect(512) + load(0, kTile)) + waitFor(0));
  ASSERT_THAT(all, Not(IsEmpty()));
  EXPECT_EQ(all[0].finding.rule, "tx-count-mismatch");
  EXPECT_THAT(all[0].finding.message, AllOf(HasSubstr("expects 512 bytes"), HasSubstr("bring 1024"),
                                            HasSubstr("may complete before all of them have come")));
}

TEST(TransactionFindings, NoneExpectedAtAll) {
  const auto all = diagnoses(initBarriers({1}) + byThread(0, arrive() + load(0, kTile)) + waitFor(0));
  const auto finding = std::find_if(
      all.begin(), all.end(), [](const Diagnosis& one) { return one.finding.rule == "tx-count-mismatch"; });
  ASSERT_NE(finding, all.end());
  EXPECT_THAT(finding->finding.message, HasSubstr("nobody announced them"));
}

TEST(TransactionFindings, PointsAtTheExpect) {
  EXPECT_EQ(opcodeAt(initBarriers({1}) + byThread(0, expect(2048) + load(0, kTile)) + waitFor(0)),
            "mbarrier.arrive.expect_tx.shared.b64");
}

TEST(TransactionFindings, HangThatFollowsIsNotToldAgain) {
  // All 64 threads are stuck at the wait.
  EXPECT_THAT(test::rulesOf(initBarriers({1}) + byThread(0, expect(2048) + load(0, kTile)) + waitFor(0),
                            {.block = {64, 1, 1}}),
              ElementsAre("tx-count-mismatch"));
}

TEST(TransactionFindings, PeersBarrierIsNamedWithItsCta) {
  const Finding finding =
      only(inCluster(initBarriers({1}) + kClusterSync +
                     byCta(1, byThread(0, expect(64) + load(0, 32)) + waitFor(0)) + kClusterSync));
  EXPECT_THAT(finding.message, AllOf(HasSubstr("of CTA 1"), HasSubstr("expects 64"), HasSubstr("bring 32")));
}

// --- phases ---

TEST(PhaseFindings, WrongParityPointsAtTheWait) {
  const std::string statements = initBarriers({1}) + byThread(0, expect(kTile) + load(0, kTile)) +
                                 byWarp(0, waitFor(0)) + byWarp(1, waitFor(1) + kReadOwn);
  const Finding finding = only(diagnoses(statements));
  EXPECT_EQ(finding.rule, "wrong-parity");
  EXPECT_THAT(finding.message, AllOf(HasSubstr("this wait of thread (32,0,0) does not wait"),
                                     HasSubstr("the phase before the first one"), HasSubstr("'bar, byte 0'"),
                                     HasSubstr("which a fresh barrier counts as over")));
  EXPECT_EQ(opcodeAt(statements), "mbarrier.try_wait.parity.shared.b64");
  ASSERT_THAT(finding.related, SizeIs(::testing::Ge(2u))) << "the read and the copy";
}

TEST(PhaseFindings, WaitForAPhaseThatHasBeenWaitedFor) {
  // The second turn of warp 1 waits for the parity of the first again.
  const std::string statements = initBarriers({1}) + byThread(0, expect(kTile) + load(0, kTile)) +
                                 waitFor(0) + kReadOwn + kProxyFence + kSync +
                                 byThread(0, expect(kTile) + load(0, kTile)) + byWarp(0, waitFor(1)) +
                                 byWarp(1, waitFor(0) + kReadOwn);
  const Finding finding = only(diagnoses(statements));
  EXPECT_EQ(finding.rule, "wrong-parity");
  EXPECT_THAT(finding.message, HasSubstr("for which the thread has waited before"));
}

TEST(PhaseFindings, DeadStart) {
  // Producer and consumers both wait for the first phase of the other's barrier.
  const std::string ring = initBarriers({1, 64}) +
                           byThread(0, waitFor(0, 1) + expect(kTile) + load(0, kTile)) + waitFor(0) +
                           kReadOwn + arrive(1);
  const Finding finding = only(diagnoses(ring));
  EXPECT_EQ(finding.rule, "wrong-parity");
  EXPECT_THAT(finding.message,
              AllOf(HasSubstr("whoever comes first must wait with parity 1"), HasSubstr("'bar, byte 8'")));
  std::string right = ring;
  const std::size_t at = right.find("[bar+8], 0;");
  right.replace(at, 11, "[bar+8], 1;");
  EXPECT_THAT(test::rulesOf(right, {.block = {64, 1, 1}}), IsEmpty());
}

TEST(PhaseFindings, LateExpect) {
  const auto all = diagnoses(
      initBarriers({1}) +
      byThread(32, "mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [bar], 1024;\n" + load(0, kTile)) +
      byThread(0, arrive()) + waitFor(0));
  ASSERT_THAT(all, Not(IsEmpty()));
  EXPECT_EQ(all[0].finding.rule, "phase-race");
  EXPECT_THAT(all[0].finding.message, HasSubstr("nothing orders these expected bytes of thread (32,0,0)"));
}

// --- proxies ---

const std::string kStoreTile = store(0, kTile) + kBulkCommit + kBulkReadWait;

TEST(ProxyFindings, WriteWithoutAFenceIsAnError) {
  const Finding finding = only(diagnoses(kWriteOwn + std::string(kSync) + byThread(0, kStoreTile)));
  EXPECT_EQ(finding.rule, "missing-proxy-fence");
  EXPECT_EQ(finding.severity, Severity::kError);
  EXPECT_THAT(finding.message, AllOf(HasSubstr("is written by"), HasSubstr("with no proxy fence between")));
  ASSERT_THAT(finding.related, Not(IsEmpty()));
  EXPECT_THAT(finding.related[0].message, HasSubstr("written here by"));
}

TEST(ProxyFindings, CopyWithoutAFenceIsAWarning) {
  const Finding finding =
      only(diagnoses(test::kCopy + std::string("cp.async.wait_all;\n") + kSync + byThread(0, kStoreTile)));
  EXPECT_EQ(finding.rule, "missing-proxy-fence");
  EXPECT_EQ(finding.severity, Severity::kWarning);
  EXPECT_THAT(finding.message, HasSubstr("cp.async writes in the generic proxy"));
}

TEST(ProxyFindings, ReadBeforeARefillIsAWarning) {
  const Finding finding = only(
      diagnoses(initBarriers({1, 64}) + byThread(0, expect(kTile) + load(0, kTile)) + waitFor(0) + kReadOwn +
                arrive(1) + byThread(0, waitFor(0, 1) + expect(kTile) + load(0, kTile)) + waitFor(1)));
  EXPECT_EQ(finding.rule, "missing-proxy-fence");
  EXPECT_EQ(finding.severity, Severity::kWarning);
  EXPECT_THAT(finding.message, AllOf(HasSubstr("is read by"), HasSubstr("the load may still be on its way")));
}

TEST(ProxyFindings, MultiplicationIsNamed) {
  const std::uint64_t descriptor =
      machine::kSharedBase >> 4 | std::uint64_t{128 >> 4} << 16 | std::uint64_t{256 >> 4} << 32;
  const std::string multiply =
      "mov.u64 %d0, " + std::to_string(descriptor) +
      ";\nwgmma.fence.sync.aligned;\nwgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 "
      "{%f0,%f1,%f2,%f3}, %d0, %d0, 1, 1, 1, 0, 0;\nwgmma.commit_group.sync.aligned;\n"
      "wgmma.wait_group.sync.aligned 0;\n";
  const Finding finding = only(diagnoses(kWriteOwn + std::string(kSync) + multiply, {.block = {128, 1, 1}}));
  EXPECT_EQ(finding.rule, "missing-proxy-fence");
  EXPECT_THAT(finding.message, HasSubstr("the multiplication of"));
}

TEST(ProxyFindings, EditedTensorMap) {
  const auto finding = [](const std::string& release) {
    return only(diagnoses(
        initBarriers({1}) +
            byThread(32, "tensormap.replace.tile.rank.global.b1024.b32 [%in], 1;\n" + release) + kSync +
            byThread(0, expect(256) + "cp.async.bulk.tensor.1d.shared::cluster.global.tile.mbarrier::"
                                      "complete_tx::bytes [tile], [%in, "
                                      "{%r1}], [bar];\n") +
            waitFor(0),
        {.block = {64, 1, 1}, .tensor_maps = {{machine::bufferBase(0), {.name = "map", .box_bytes = 256}}}}));
  };
  EXPECT_EQ(finding("").rule, "missing-proxy-fence");
  EXPECT_THAT(finding("").message, AllOf(HasSubstr("'in"), HasSubstr("release")));
  EXPECT_THAT(finding("fence.proxy.tensormap::generic.release.gpu;\n").message, HasSubstr("acquire"));
}

// --- bulk copies ---

const std::string kFilled = std::string(kWriteOwn) + kProxyFence + kSync;

TEST(BulkFindings, ReadsAndRefillsHaveTheRulesOfCopies) {
  EXPECT_THAT(
      test::rulesOf(initBarriers({1}) + byThread(0, expect(16) + load(0, 16) + readAt(0) + waitFor(0))),
      ElementsAre("missing-wait"));
  EXPECT_THAT(test::rulesOf(initBarriers({1}) + byThread(0, expect(kTile) + load(0, kTile)) + kSync +
                                byThread(40, readAt(0)) + waitFor(0),
                            {.block = {64, 1, 1}}),
              ElementsAre("barrier-only-handoff"));
  EXPECT_THAT(test::rulesOf(kFilled + byThread(0, store(0, kTile) + kBulkCommit + writeAt(0) + kBulkReadWait),
                            {.block = {64, 1, 1}}),
              ElementsAre("premature-overwrite"));
}

TEST(BulkFindings, StoreOfWhatAnotherWarpIsStillToWriteMissesABarrier) {
  const std::string hand_over = byThread(0, store(0, kTile) + kBulkCommit + kBulkReadWait);
  EXPECT_THAT(test::rulesOf(std::string(kWriteOwn) + kProxyFence + hand_over,
                            {.block = {64, 1, 1}}),
              ElementsAre("missing-barrier"));
}

TEST(BulkFindings, StoreThatIsNotDrained) {
  const Finding at_exit = only(diagnoses(kFilled + byThread(0, store(0, kTile) + kBulkCommit)));
  EXPECT_EQ(at_exit.rule, "store-not-drained");
  EXPECT_THAT(at_exit.message, HasSubstr("no wait_group.read covers it"));
  const Finding at_read = only(diagnoses(kFilled + byThread(0, kStoreTile + "ld.global.u32 %r1, [%out];\n")));
  EXPECT_EQ(at_read.rule, "store-not-drained");
  EXPECT_THAT(at_read.message, HasSubstr("wait_group.read waits for the source only"));
  const Finding at_signal =
      only(diagnoses(kFilled + byThread(0, kStoreTile + "st.release.gpu.global.u32 [%out+4096], %r1;\n")));
  EXPECT_EQ(at_signal.rule, "store-not-drained");
  EXPECT_THAT(at_signal.message, HasSubstr("announces data that a bulk store may still be writing"));
}

TEST(BulkFindings, StoreThatWasNeverCommitted) {
  const Finding finding = only(diagnoses(kFilled + byThread(0, store(0, kTile) + kBulkReadWait)));
  EXPECT_EQ(finding.rule, "missing-commit");
}

TEST(BulkFindings, AlignmentNamesTheAddressAndTheSize) {
  const Finding size =
      only(diagnoses(initBarriers({1}) + byThread(0, expect(40) + load(0, 40)) + waitFor(0)));
  EXPECT_EQ(size.rule, "misaligned-copy");
  EXPECT_THAT(size.message, HasSubstr("a multiple of 16 bytes, not 40"));
  const Finding place =
      only(diagnoses(initBarriers({1}) + byThread(0, expect(64) + load(8, 64)) + waitFor(0)));
  EXPECT_THAT(place.message, HasSubstr("destination 'tile, byte 8' of a bulk copy"));
}

// --- clusters ---

TEST(ClusterFindings, StartAndEndOfAPeer) {
  const std::string read = tileOf(1, "%r21") + "ld.shared::cluster.u32 %r1, [%r21];\n";
  const Finding start = only(inCluster(byCta(0, byThread(0, read)) + kClusterSync));
  EXPECT_EQ(start.rule, "cluster-lifetime");
  EXPECT_THAT(start.message,
              AllOf(HasSubstr("thread (0,0,0) of CTA 0"), HasSubstr("CTA 1"), HasSubstr("has started")));
  const Finding end = only(inCluster(kClusterSync + byCta(0, byThread(0, read))));
  EXPECT_EQ(end.rule, "cluster-lifetime");
  EXPECT_THAT(end.message, HasSubstr("CTA 1 may exit before this access"));
}

TEST(ClusterFindings, PlacesAreNamedWithTheirCta) {
  const Finding finding = only(
      inCluster(initBarriers({1}) + kClusterSync +
                byCta(1, byThread(0, expect(64) + load(0, 64) + readAt(0) + waitFor(0))) + kClusterSync));
  EXPECT_EQ(finding.rule, "missing-wait");
  EXPECT_THAT(finding.message, HasSubstr("'tile, byte 0 of CTA 1'"));
}

TEST(ClusterFindings, WrongSpaceAndForeignBarriers) {
  const Finding own =
      only(inCluster(initBarriers({1}) + kClusterSync + byCta(1, byThread(0, expect(16))) +
                     byCta(0, byThread(0, tileOf(1, "%r21") + barrierOf(1, "%r22") +
                                              "cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes "
                                              "[%r21], [%in], 16, [%r22];\n")) +
                     byCta(1, waitFor(0)) + kClusterSync));
  EXPECT_EQ(own.rule, "wrong-space");
  EXPECT_THAT(own.message, HasSubstr(".shared::cta names memory of another CTA"));
  const Finding rank =
      only(inCluster(kClusterSync + tileOf(5, "%r21") + "ld.shared::cluster.u32 %r1, [%r21];\n"));
  EXPECT_EQ(rank.rule, "wrong-space");
  EXPECT_THAT(rank.message, HasSubstr("CTA 5 of a cluster of 2"));
  const Finding wait = only(inCluster(initBarriers({1}) + kClusterSync +
                                      byCta(0,
                                            "mov.u64 %d1, bar;\ncvta.shared.u64 %d1, %d1;\nmapa.u64 %d2, "
                                            "%d1, 1;\nmbarrier.test_wait.parity.b64 %p1, [%d2], "
                                            "0;\n") +
                                      kClusterSync));
  EXPECT_EQ(wait.rule, "illegal-barrier-op");
}

TEST(ClusterFindings, BarrierThatNotAllReach) {
  const auto all = inCluster(kClusterSync + byCta(0, "bar.sync 1, 64;\n") + kClusterSync);
  const auto hang = std::find_if(all.begin(), all.end(), [](const Diagnosis& one) {
    return one.finding.message.find("cluster barrier") != std::string::npos;
  });
  ASSERT_NE(hang, all.end());
  EXPECT_EQ(hang->finding.rule, "hang");
  EXPECT_THAT(hang->finding.message, HasSubstr("32 threads wait at the cluster barrier"));
}

TEST(ClusterFindings, RegisterPool) {
  const auto all = diagnoses(
      "setp.lt.u32 %p1, %w, 4;\n@%p1 bra MEET;\nsetmaxnreg.inc.sync.aligned.u32 232;\nMEET:\nbar.sync 0;\n",
      {.block = {384, 1, 1}});
  const auto pool = std::find_if(all.begin(), all.end(), [](const Diagnosis& one) {
    return one.finding.message.find("setmaxnreg") != std::string::npos;
  });
  ASSERT_NE(pool, all.end());
  EXPECT_EQ(pool->finding.rule, "hang");
}

// --- tensor memory ---

TEST(TensorMemoryFindings, ColumnsAreNamed) {
  const std::string allocated =
      "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [flag], 32;\nbar.sync 0;\nld.shared.u32 %r40, "
      "[flag];\n";
  const std::string store = "tcgen05.st.sync.aligned.32x32b.x1.b32 [%r40], {%r1};\n";
  const std::string load = "tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r1}, [%r40];\n";
  const std::string waits = "tcgen05.wait::ld.sync.aligned;\ntcgen05.wait::st.sync.aligned;\n";
  const std::string freed = "tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r40, 32;\n";
  const Finding finding = only(diagnoses(allocated + store + load + waits + freed, {}));
  EXPECT_EQ(finding.rule, "missing-wait");
  EXPECT_THAT(finding.message, HasSubstr("'tensor memory, column 0' is used by"));
  const Finding leak = only(diagnoses(allocated, {}));
  EXPECT_EQ(leak.rule, "cluster-lifetime");
  EXPECT_THAT(leak.message, HasSubstr("32 columns of tensor memory"));
}

}  // namespace
}  // namespace handoff::diagnose
