// SPDX-License-Identifier: Apache-2.0
// Warpgroup multiplications as readers of shared memory: until when, for whom, and through which proxy.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analyzer/machine/address.h"
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
using test::kProxyFence;
using test::kSync;
using test::load;
using test::misusesOf;
using test::readAt;
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

// A slot holds A, 64 rows of 32 bytes, and behind it B, 8 rows; both K-major without swizzle, and contiguous.
constexpr unsigned kBytesOfA = 2048, kSlotBytes = 2304, kSlot = 4096;

std::uint64_t descriptor(unsigned at) {
  constexpr std::uint64_t kLeading = 128, kStride = 256;
  return (kSharedBase + at) >> 4 | (kLeading >> 4) << 16 | (kStride >> 4) << 32;
}

constexpr const char* kFence = "wgmma.fence.sync.aligned;\n";
constexpr const char* kCommit = "wgmma.commit_group.sync.aligned;\n";
constexpr const char* kWait = "wgmma.wait_group.sync.aligned 0;\n";
constexpr const char* kWaitOne = "wgmma.wait_group.sync.aligned 1;\n";

std::string mma(unsigned slot) {
  return "mov.u64 %d0, " + std::to_string(descriptor(slot * kSlot)) + ";\nmov.u64 %d1, " +
         std::to_string(descriptor(slot * kSlot + kBytesOfA)) +
         ";\nwgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%f0,%f1,%f2,%f3}, %d0, %d1, 1, 1, 1, 0, "
         "0;\n";
}
/// One multiplication of a slot, as a group.
std::string multiply(unsigned slot) { return kFence + mma(slot) + kCommit; }

std::string fill(unsigned slot, unsigned barrier) {
  return expect(kSlotBytes, barrier) + load(slot * kSlot, kSlotBytes, barrier);
}
/// bar[0] and bar[1] for the slots of that number; both are loaded and waited for.
const std::string kLoaded =
    initBarriers({1, 1}) + byThread(0, fill(0, 0) + fill(1, 1)) + waitFor(0, 0) + waitFor(0, 1);

/// One warpgroup.
test::Ran run(const std::string& statements) { return test::run(statements, {.block = {128, 1, 1}}); }
std::vector<std::string> conflicts(const std::string& statements) { return conflictsOf(run(statements)); }

std::string refill(unsigned slot) { return byThread(0, fill(slot, slot)) + waitFor(1, slot); }

// --- how long the operands are read ---

TEST(WgmmaOperands, RefillAfterTheWait) {
  expectClean(run(kLoaded + multiply(0) + kWait + kSync + refill(0)));
}

TEST(WgmmaOperands, RefillBeforeTheWait) {
  EXPECT_THAT(conflicts(kLoaded + multiply(0) + kSync + refill(0) + kWait), ElementsAre("mma -> bulk"));
}

TEST(WgmmaOperands, EitherOperandIsRead) {
  const auto overwrite = [](unsigned at) {
    return conflicts(kLoaded + multiply(0) + byThread(0, writeAt(at)) + kWait);
  };
  EXPECT_THAT(overwrite(0), Contains("mma -> write"));
  EXPECT_THAT(overwrite(kBytesOfA - 16), Contains("mma -> write"));
  EXPECT_THAT(overwrite(kBytesOfA), Contains("mma -> write"));
  EXPECT_THAT(overwrite(kSlotBytes - 16), Contains("mma -> write"));
  EXPECT_THAT(overwrite(kSlotBytes), IsEmpty());
}

TEST(WgmmaOperands, AInRegistersIsNotRead) {
  const std::string from_registers = "mov.u64 %d1, " + std::to_string(descriptor(kBytesOfA)) +
                                     ";\nwgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 "
                                     "{%f0,%f1,%f2,%f3}, {%r1,%r2,%r3,%r4}, %d1, 1, 1, 1, 0;\n" +
                                     std::string(kCommit);
  expectClean(run(kLoaded + kFence + from_registers + byThread(0, writeAt(0)) + kWait));
  EXPECT_THAT(conflicts(kLoaded + kFence + from_registers + byThread(0, writeAt(kBytesOfA)) + kWait),
              Contains("mma -> write"));
}

TEST(WgmmaOperands, PendingGroupIsStillRead) {
  const std::string two = kLoaded + multiply(0) + multiply(1) + kWaitOne + kSync;
  expectClean(run(two + refill(0) + kWait));
  EXPECT_THAT(conflicts(two + refill(1) + kWait), ElementsAre("mma -> bulk"));
}

TEST(WgmmaOperands, SeveralMultiplicationsOfOneGroup) {
  expectClean(run(kLoaded + kFence + mma(0) + mma(1) + kCommit + kWait + kSync + refill(0) + refill(1)));
  EXPECT_THAT(conflicts(kLoaded + kFence + mma(0) + mma(1) + kCommit + kWaitOne + kSync + refill(0) + kWait),
              ElementsAre("mma -> bulk"));
}

TEST(WgmmaOperands, MultiplicationThatWasNotCommitted) {
  const test::Ran ran = run(kLoaded + kFence + mma(0) + kWait + kSync + refill(0) + kCommit + kWait);
  EXPECT_THAT(conflictsOf(ran), ElementsAre("mma -> bulk"));
}

TEST(WgmmaOperands, WaitReleasesBySynchronisationOnly) {
  // Another thread than those of the warpgroup refills.
  const std::string consumers = "setp.ge.u32 %p1, %w, 4;\n@%p1 bra PRODUCER;\n";
  const auto by = [&](const std::string& before_arrival, const std::string& after_arrival) {
    return conflictsOf(test::run(initBarriers({1, 4}) + consumers + waitFor(0) + multiply(0) +
                                     before_arrival + byLane(0, arrive(1)) + after_arrival + waitFor(1) +
                                     "bra END;\nPRODUCER:\n" +
                                     byLane(0, fill(0, 0) + waitFor(0, 1) + fill(0, 0)) + "END:\n",
                                 {.block = {160, 1, 1}}));
  };
  EXPECT_THAT(by(kWait, ""), IsEmpty());
  EXPECT_THAT(by("", kWait), ElementsAre("mma -> bulk"));
}

TEST(WgmmaOperands, GenericWriteAfterTheWaitNeedsNoFence) {
  expectClean(run(kLoaded + multiply(0) + kWait + kSync + byThread(0, writeAt(0))));
}

TEST(WgmmaOperands, ReadersOfAllKindsMayMeet) {
  expectClean(run(kLoaded + multiply(0) + multiply(1) + multiply(0) + readAt(0) + kWait));
}

TEST(WgmmaOperands, RefillBetweenTheWarpsOfOneMultiplication) {
  // Warps 1-3 have started; warp 0 refills before it joins them.
  const std::string early = "setp.eq.u32 %p1, %w, 0;\n@%p1 bra FIRST;\n" + multiply(0) +
                            "bar.arrive 1, 128;\nbra END;\nFIRST:\n" + "bar.sync 1, 128;\n" +
                            byLane(0, fill(0, 0)) + waitFor(1, 0) + multiply(0) + "END:\n" + kWait;
  EXPECT_THAT(conflicts(kLoaded + early), Contains("mma -> bulk"));
}

TEST(WgmmaOperands, RefillBetweenTheStartsOfTheWarps) {
  // Warp 3 goes first behind the block barrier; the copy is issued then, and the other warps wait for it.
  EXPECT_THAT(conflicts(initBarriers({1}) + byThread(0, fill(0, 0)) + "setp.eq.u32 %p4, %w, 3;\n@%p4 bra MULTIPLY;\n" +
                        waitFor(0) + "MULTIPLY:\n" + multiply(0) + kWait),
              ElementsAre("mma -> bulk"));
}

// --- whose wait ---

TEST(WgmmaWait, WaitOfAnyWarpIsThatOfTheWarpgroup) {
  expectClean(run(kLoaded + multiply(0) + byWarp(2, kWait + byLane(0, fill(0, 0))) + kWait + waitFor(1, 0)));
}

TEST(WgmmaWait, WarpThatDoesNotWaitNeedsABarrier) {
  EXPECT_THAT(conflicts(kLoaded + multiply(0) + byWarp(2, byLane(0, fill(0, 0))) + kWait + waitFor(1, 0)),
              ElementsAre("mma -> bulk"));
  expectClean(run(kLoaded + multiply(0) + byWarp(1, kWait) + kSync + byWarp(2, byLane(0, fill(0, 0))) +
                  kWait + waitFor(1, 0)));
}

TEST(WgmmaWait, OrdinaryLoadsOfTheOtherWarpsAreNotCovered) {
  // Each warp reads scales from the slot before the multiplication; one warp's wait releases the slot.
  EXPECT_THAT(conflicts(kLoaded + readAt(0) + multiply(0) + byWarp(0, kWait + byLane(0, fill(0, 0))) + kWait +
                        waitFor(1, 0)),
              ElementsAre("read -> bulk"));
}

TEST(WgmmaWait, OrdinaryLoadsOfTheOwnWarpAreOverByThen) {
  // DeepGEMM's scales: every lane reads, lane 0 arrives for its warp after the wait.
  expectClean(run(initBarriers({1, 4}) + byThread(0, fill(0, 0)) + waitFor(0) + readAt(0) + multiply(0) +
                  kWait + byLane(0, arrive(1)) + byThread(0, waitFor(0, 1) + fill(0, 0)) + waitFor(1)));
}

TEST(WgmmaWait, LoadsAfterItAreNot) {
  EXPECT_THAT(
      conflicts(initBarriers({1, 4}) + byThread(0, fill(0, 0)) + waitFor(0) + multiply(0) + kWait +
                readAt(0) + byLane(0, arrive(1)) + byThread(0, waitFor(0, 1) + fill(0, 0)) + waitFor(1)),
      Not(IsEmpty()));
}

TEST(WgmmaWait, WarpThatNeverMultiplies) {
  const test::Ran ran =
      run(kLoaded + "setp.eq.u32 %p1, %w, 3;\n@%p1 bra END;\n" + multiply(0) + kWait + "END:\n");
  EXPECT_THAT(stuckOf(ran), ElementsAre(Stuck::Kind::kMmaWait, Stuck::Kind::kMmaWait, Stuck::Kind::kMmaWait));
}

TEST(WgmmaWait, PendingGroupsDoNotHoldAnybodyBack) {
  // One warp is a group behind; a wait that leaves a group pending does not need it.
  const test::Ran ran = run(kLoaded + multiply(0) + "setp.eq.u32 %p1, %w, 3;\n@%p1 bra END;\n" + multiply(1) +
                            kWaitOne + "END:\n");
  EXPECT_THAT(stuckOf(ran), IsEmpty());
}

TEST(WgmmaWait, SecondWarpgroupIsIndependent) {
  const test::Ran ran =
      test::run(kLoaded + "setp.ge.u32 %p1, %w, 4;\n@%p1 bra END;\n" + multiply(0) + kWait + "END:\n",
                {.block = {256, 1, 1}});
  expectClean(ran);
}

// --- one instruction of four warps ---

TEST(WgmmaUniform, DescriptorsDiffer) {
  const std::string by_warp =
      "mov.u64 %d0, " + std::to_string(descriptor(0)) + ";\nsetp.eq.u32 %p1, %w, 2;\n@%p1 mov.u64 %d0, " +
      std::to_string(descriptor(kSlot)) + ";\nmov.u64 %d1, " + std::to_string(descriptor(kBytesOfA)) +
      ";\nwgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%f0,%f1,%f2,%f3}, %d0, %d1, 1, 1, 1, "
      "0, 0;\n";
  EXPECT_THAT(misusesOf(run(kLoaded + kFence + by_warp + kCommit + kWait)),
              ElementsAre(Kind::kWarpgroupMismatch));
}

TEST(WgmmaUniform, InstructionsDiffer) {
  EXPECT_THAT(misusesOf(run(kLoaded + "setp.eq.u32 %p1, %w, 2;\n@%p1 bra OTHER;\n" + multiply(0) +
                            "bra END;\nOTHER:\n" + multiply(0) + "END:\n" + kWait)),
              ElementsAre(Kind::kWarpgroupMismatch));
}

TEST(WgmmaUniform, PartOfAWarp) {
  EXPECT_THAT(misusesOf(run(kLoaded + "setp.ge.u32 %p1, %lane, 16;\n@%p1 bra END;\n" + multiply(0) + kWait +
                            "END:\n")),
              Contains(Kind::kSplitWarpgroup));
}

TEST(WgmmaUniform, WarpgroupsMayDifferFromEachOther) {
  const test::Ran ran = test::run(kLoaded + "setp.ge.u32 %p1, %w, 4;\n@%p1 bra OTHER;\n" + multiply(0) +
                                      kWait + "bra END;\nOTHER:\n" + multiply(1) + kWait + "END:\n",
                                  {.block = {256, 1, 1}});
  expectClean(ran);
}

TEST(WgmmaUniform, UnknownDescriptorIsALimit) {
  const test::Ran ran =
      run(kLoaded + "cvt.u64.u32 %d0, %u;\nmov.u64 %d1, " + std::to_string(descriptor(kBytesOfA)) +
          ";\nwgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%f0,%f1,%f2,%f3}, %d0, %d1, 1, 1, 1, "
          "0, 0;\n" +
          kCommit + kWait);
  EXPECT_THAT(test::limitsOf(ran), Contains(HasSubstr("matrix descriptor")));
}

TEST(WgmmaUniform, OperandOutsideOfSharedMemoryIsALimit) {
  const test::Ran ran =
      run("mov.u64 %d0, " + std::to_string(descriptor(0x20000)) +
          ";\nwgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%f0,%f1,%f2,%f3}, %d0, %d0, 1, 1, 1, "
          "0, 0;\n" +
          std::string(kCommit) + kWait);
  EXPECT_THAT(test::limitsOf(ran), Contains(HasSubstr("outside of what the launch gives")));
}

// --- what has to be there before ---

TEST(WgmmaData, EachWarpNeedsTheDataItself) {
  const auto by = [](const std::string& wait) {
    return conflicts(initBarriers({1}) + byThread(0, fill(0, 0)) + kSync + wait + multiply(0) + kWait);
  };
  EXPECT_THAT(by(waitFor(0)), IsEmpty());
  EXPECT_THAT(by(byThread(0, waitFor(0)) + kSync), IsEmpty());
  EXPECT_THAT(by(byWarp(0, waitFor(0)) + byWarp(1, waitFor(0)) + byWarp(2, waitFor(0))),
              ElementsAre("bulk -> mma"));
  EXPECT_THAT(by(""), ElementsAre("bulk -> mma"));
}

TEST(WgmmaData, WaitOfOneLaneIsThatOfTheWarp) {
  expectClean(run(initBarriers({1}) + byThread(0, fill(0, 0)) + byLane(0, waitFor(0)) +
                  "bar.warp.sync 0xffffffff;\n" + multiply(0) + kWait));
}

TEST(WgmmaData, LoadedByTmaItNeedsNoFence) { expectClean(run(kLoaded + multiply(0) + kWait)); }

const std::string kWritten = "st.shared.v4.u32 [%s], {%r1, %r2, %r3, %r4};\n";

TEST(WgmmaData, WrittenByThreadsItNeedsAProxyFence) {
  const auto by = [](const std::string& writer, const std::string& reader) {
    return conflicts(kWritten + writer + kSync + reader + multiply(0) + kWait);
  };
  EXPECT_THAT(by(kProxyFence, ""), IsEmpty());
  EXPECT_THAT(by("", kProxyFence), IsEmpty());
  EXPECT_THAT(by("", ""), ElementsAre("!write -> mma")) << "wgmma.fence is none";
  EXPECT_THAT(by("fence.proxy.async.global;\n", ""), ElementsAre("!write -> mma"));
}

TEST(WgmmaData, FenceOfOneWarpCoversItsOwnMultiplicationOnly) {
  EXPECT_THAT(conflicts(kWritten + kSync + byWarp(0, kProxyFence) + multiply(0) + kWait),
              ElementsAre("!write -> mma"));
}

TEST(WgmmaData, CopiedByCpAsyncItNeedsOneToo) {
  const auto by = [](const std::string& fence) {
    return conflicts(test::kCopy + std::string("cp.async.wait_all;\n") + fence + kSync + multiply(0) + kWait);
  };
  EXPECT_THAT(by(kProxyFence), IsEmpty());
  EXPECT_THAT(by(""), ElementsAre("!copy -> mma"));
}

TEST(WgmmaData, WithoutABarrierItIsARace) {
  EXPECT_THAT(conflicts(kWritten + kProxyFence + multiply(0) + kWait),
              ::testing::AllOf(Not(IsEmpty()), Each(Not(::testing::StartsWith("!")))));
}

// --- the whole ring ---

TEST(WgmmaRing, TwoSlotsWithOneGroupInFlight) {
  // Producer warp 4; the consumers release a slot one turn late.
  const std::string text = initBarriers({1, 1, 4, 4}) + R"(
mov.u32 %r1, 0;
setp.ge.u32 %p1, %w, 4;
@%p1 bra PRODUCER;
CONSUME:
and.b32 %r2, %r1, 1;
shr.u32 %r3, %r1, 1;
and.b32 %r3, %r3, 1;
mov.u32 %r4, bar;
mad.lo.u32 %r5, %r2, 8, %r4;
FULL:
mbarrier.try_wait.parity.shared.b64 %p2, [%r5], %r3;
@!%p2 bra FULL;
mul.wide.u32 %d2, %r2, 256;
add.u64 %d0, %d2, )" + std::to_string(descriptor(0)) +
                           R"(;
add.u64 %d1, %d2, )" + std::to_string(descriptor(kBytesOfA)) +
                           R"(;
wgmma.fence.sync.aligned;
wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%f0,%f1,%f2,%f3}, %d0, %d1, 1, 1, 1, 0, 0;
wgmma.commit_group.sync.aligned;
wgmma.wait_group.sync.aligned PENDING;
setp.eq.u32 %p3, %r1, 0;
@%p3 bra NEXT;
setp.ne.u32 %p4, %lane, 0;
@%p4 bra NEXT;
xor.b32 %r6, %r2, 1;
mad.lo.u32 %r6, %r6, 8, %r4;
mbarrier.arrive.shared.b64 _, [%r6+16];
NEXT:
bar.warp.sync 0xffffffff;
add.u32 %r1, %r1, 1;
setp.lt.u32 %p5, %r1, 6;
@%p5 bra CONSUME;
wgmma.wait_group.sync.aligned 0;
bra END;
PRODUCER:
setp.ne.u32 %p4, %lane, 0;
@%p4 bra END;
PRODUCE:
and.b32 %r2, %r1, 1;
shr.u32 %r3, %r1, 1;
and.b32 %r3, %r3, 1;
xor.b32 %r3, %r3, 1;
mov.u32 %r4, bar;
mad.lo.u32 %r5, %r2, 8, %r4;
EMPTY:
mbarrier.try_wait.parity.shared.b64 %p2, [%r5+16], %r3;
@!%p2 bra EMPTY;
mbarrier.arrive.expect_tx.shared.b64 _, [%r5], 2304;
mov.u32 %r6, tile;
mad.lo.u32 %r6, %r2, 4096, %r6;
cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r6], [%in], 2304, [%r5];
add.u32 %r1, %r1, 1;
setp.lt.u32 %p5, %r1, 6;
@%p5 bra PRODUCE;
END:
)";
  const auto with = [&](const std::string& pending) {
    std::string statements = text;
    statements.replace(statements.find("PENDING"), 7, pending);
    return test::run(statements, {.block = {160, 1, 1}});
  };
  expectClean(with("1"));
  EXPECT_THAT(conflictsOf(with("2")), ElementsAre("mma -> bulk"));
}

}  // namespace
}  // namespace handoff::machine
