// SPDX-License-Identifier: Apache-2.0
// Loads and stores of every space, atomics, matrix accesses, and lane communication.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analyzer/machine/address.h"
#include "analyzer/test_support/ptx_kernel.h"

namespace handoff::machine {
namespace {

using test::kCommit;
using test::kCopy;
using test::kSync;
using test::kWait;
using test::probe;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

const std::string kShow = "cvt.u64.u32 %d63, %r1;\n" + probe("%d63");

std::array<std::uint64_t, kWarpSize> shown(const std::string& statements, const test::Setup& setup = {}) {
  const auto probes = test::probesOf(test::run(statements + kShow, setup));
  EXPECT_EQ(probes.size(), 1u);
  return probes.empty() ? std::array<std::uint64_t, kWarpSize>{} : probes[0];
}

TEST(SharedContents, StoredWordsAreReadBack) {
  const auto words = shown(
      "add.u32 %r2, %lane, 7;\nst.shared.u32 [%s], %r2;\nbar.warp.sync 0xffffffff;\nld.shared.u32 %r1, "
      "[tile+48];\n");
  EXPECT_EQ(words[0], 10u) << "lane 3's word";
  EXPECT_EQ(words[20], 10u);
}

TEST(SharedContents, NarrowStoresChangeTheirBytesOnly) {
  EXPECT_EQ(shown("mov.u32 %r2, 0x11223344;\nst.shared.u32 [%s], %r2;\nmov.u16 %h1, 0xaa;\nst.shared.u8 "
                  "[%s+1], %h1;\n"
                  "ld.shared.u32 %r1, [%s];\n")[5],
            0x1122aa44u);
}

TEST(SharedContents, SignedLoadsExtend) {
  EXPECT_EQ(shown("mov.u32 %r2, 0x80;\nst.shared.u32 [%s], %r2;\nld.shared.s8 %r1, [%s];\n")[5], 0xffffff80u);
  EXPECT_EQ(shown("mov.u32 %r2, 0x80;\nst.shared.u32 [%s], %r2;\nld.shared.u8 %r1, [%s];\n")[5], 0x80u);
}

TEST(SharedContents, VectorsAreElementByElement) {
  EXPECT_EQ(shown("mov.u32 %r2, 5;\nmov.u32 %r3, 6;\nst.shared.v2.u32 [%s+8], {%r2, %r3};\nld.shared.v4.u32 "
                  "{%r4, %r5, %r6, %r1}, [%s];\n")[1],
            6u);
}

TEST(SharedContents, CopiedBytesAreUnknown) {
  const test::Ran ran = test::run(
      "mov.u32 %r2, 0;\nst.shared.u32 [%s], %r2;\ncp.async.ca.shared.global [%s], [%g], 4;\n"
      "cp.async.wait_all;\nld.shared.u32 %r1, [%s];\nadd.u32 %r1, %r1, %s;\nst.shared.u32 [%r1], %r2;\n");
  EXPECT_THAT(test::limitsOf(ran), ElementsAre(HasSubstr("address of 'st.shared.u32' depends on data")));
}

TEST(SharedContents, AccessBeyondTheEndIsALimitAndNothingWorse) {
  // 16-byte accesses only, and memory that ends in the middle of one.
  const test::Ran ran = test::runModule(
      ".version 8.8\n.target sm_90a\n.address_size 64\n.extern .shared .align 16 .b8 more[];\n.visible "
      ".entry k()\n{\n"
      ".reg .b32 %r<8>;\n.reg .b64 %d<8>;\nmov.u32 %r5, more;\nld.shared.v4.u32 {%r1, %r2, %r3, %r4}, "
      "[%r5+16];\n"
      "st.shared.v4.u32 [%r5+16], {%r1, %r2, %r3, %r4};\nand.b32 %r1, %r1, 0;\nadd.u32 %r5, %r5, %r1;\n"
      "mov.u64 %d1, 4096;\ncp.async.cg.shared.global [%r5], [%d1], 16;\nret;\n}\n",
      {.dynamic_shared_bytes = 20});
  EXPECT_THAT(test::limitsOf(ran), SizeIs(2));
}

TEST(GenericAddresses, ReachSharedMemory) {
  EXPECT_EQ(shown("mov.u32 %r2, 9;\nst.shared.u32 [%s], %r2;\ncvt.u64.u32 %d1, %s;\ncvta.shared.u64 %d2, "
                  "%d1;\nld.u32 %r1, [%d2];\n")[3],
            9u);
}

TEST(GenericAddresses, RaceLikeSharedOnes) {
  const test::Ran ran =
      test::run(std::string(kCopy) + kCommit +
                "cvt.u64.u32 %d1, %s;\ncvta.shared.u64 %d2, %d1;\nld.u32 %r1, [%d2];\n" + kWait);
  EXPECT_THAT(ran.outcome.conflicts, SizeIs(1));
}

TEST(GenericAddresses, LanesMayPointToDifferentSpaces) {
  const test::Ran ran = test::run(
      "setp.lt.u32 %p1, %lane, 16;\ncvt.u64.u32 %d1, %s;\ncvta.shared.u64 %d2, %d1;\nselp.b64 %d3, %d2, %g, "
      "%p1;\n"
      "ld.u32 %r1, [%d3];\n");
  EXPECT_THAT(test::limitsOf(ran), IsEmpty());
  LaneMask readers = 0;
  for (EventId id = 1; id < ran.outcome.log.end(); ++id) readers |= ran.outcome.log[id].lanes;
  EXPECT_EQ(readers, 0xffffu);
}

TEST(LocalMemory, EachLaneHasItsOwn) {
  const auto words = shown("st.local.u32 [depot+4], %lane;\nld.local.u32 %r1, [depot+4];\n",
                           {.declarations = ".local .align 8 .b8 depot[16];\n"});
  EXPECT_EQ(words[30], 30u);
}

TEST(LocalMemory, IsReachedByGenericAddresses) {
  const auto words = shown(
      "mov.u64 %d1, depot;\ncvta.local.u64 %d2, %d1;\nst.u32 [%d2+8], %lane;\nld.local.u32 %r1, [depot+8];\n",
      {.declarations = ".local .align 8 .b8 depot[16];\n"});
  EXPECT_EQ(words[30], 30u);
}

TEST(ConstantMemory, IsWhatItsInitialiserSays) {
  EXPECT_EQ(
      shown("ld.const.u32 %r1, [table+4];\n", {.functions = ".const .align 4 .b32 table[2] = {3, 77};\n"})[0],
      77u);
}

TEST(Parameters, AreWhatTheLaunchSays) {
  EXPECT_EQ(shown("mov.u32 %r1, %n;\n", {.n = 1234})[0], 1234u);
  EXPECT_EQ(shown("mov.u32 %r1, %u;\n")[0], 0u) << "unknown";
}

TEST(DynamicShared, StartsAfterTheStaticVariablesAndEndsWithTheLaunch) {
  const char* declaration = ".extern .shared .align 128 .b8 more[];\n";
  const std::string touch =
      "mov.u32 %r1, more;\nmad.lo.u32 %r1, %t, 16, %r1;\nst.shared.v4.u32 [%r1], {%r2, %r3, %r4, %r5};\n";
  EXPECT_THAT(test::limitsOf(test::run(touch, {.dynamic_shared_bytes = 512, .functions = declaration})),
              IsEmpty());
  EXPECT_THAT(test::limitsOf(test::run(touch, {.dynamic_shared_bytes = 256, .functions = declaration})),
              ElementsAre(HasSubstr("outside of what the launch gives")));
}

// --- atomics ---

TEST(Atomics, ReturnTheOldWordLaneAfterLane) {
  const auto words = shown(
      "mov.u32 %r2, 100;\nsetp.eq.u32 %p1, %t, 0;\n@%p1 st.shared.u32 [flag], %r2;\nbar.sync 0;\n"
      "atom.shared.add.u32 %r1, [flag], 2;\n");
  EXPECT_EQ(words[0], 100u);
  EXPECT_EQ(words[31], 162u);
}

TEST(Atomics, EveryOperationMatchesItsDefinition) {
  const auto result = [&](const std::string& operation, const std::string& operands) {
    return shown(
        "setp.ne.u32 %p1, %t, 0;\n@%p1 ret;\nmov.u32 %r2, 12;\nst.shared.u32 [flag], %r2;\natom.shared." +
        operation + " %r3, [flag], " + operands + ";\nld.shared.u32 %r1, [flag];\n")[0];
  };
  EXPECT_EQ(result("add.u32", "5"), 17u);
  EXPECT_EQ(result("exch.b32", "5"), 5u);
  EXPECT_EQ(result("cas.b32", "12, 5"), 5u);
  EXPECT_EQ(result("cas.b32", "13, 5"), 12u);
  EXPECT_EQ(result("and.b32", "6"), 4u);
  EXPECT_EQ(result("or.b32", "3"), 15u);
  EXPECT_EQ(result("xor.b32", "5"), 9u);
  EXPECT_EQ(result("inc.u32", "12"), 0u) << "wraps at the bound";
  EXPECT_EQ(result("inc.u32", "20"), 13u);
  EXPECT_EQ(result("dec.u32", "5"), 5u) << "above the bound: set to it";
  EXPECT_EQ(result("min.s32", "-3"), 0xfffffffdu);
  EXPECT_EQ(result("max.s32", "-3"), 12u);
  EXPECT_EQ(result("max.u32", "40"), 40u);
  EXPECT_EQ(result("min.u32", "40"), 12u);
}

TEST(Atomics, DoNotRaceWithEachOther) {
  EXPECT_THAT(test::run("atom.shared.add.u32 %r1, [flag], 2;\n", {.block = {128, 1, 1}}).outcome.conflicts,
              IsEmpty());
}

TEST(Atomics, RaceWithACopyInFlight) {
  EXPECT_THAT(
      test::run(
          "cp.async.ca.shared.global [%s], [%g], 4;\natom.shared.add.u32 %r1, [%s], 2;\ncp.async.wait_all;")
          .outcome.conflicts,
      SizeIs(::testing::Ge(1u)));
}

TEST(Atomics, RaceWithAWeakReadOfAnotherWarp) {
  EXPECT_THAT(test::run("setp.eq.u32 %p1, %w, 0;\n@%p1 bra READ;\natom.shared.add.u32 %r1, [flag], 2;\nbra "
                        "END;\nREAD:\nld.shared.u32 %r1, "
                        "[flag];\nEND:",
                        {.block = {64, 1, 1}})
                  .outcome.conflicts,
              SizeIs(1));
}

// --- matrices: rows are attributed to the whole warp ---

/// Lane l copies row l of 16 bytes; a warp reads rows with ldmatrix.
std::string rows(const std::string& order, const std::string& load) {
  return kCopy + std::string(kCommit) + order + load + kWait;
}

TEST(LdMatrix, NeedsTheWarpSynchronisedAfterTheWaits) {
  const std::string x4 = "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r1, %r2, %r3, %r4}, [%s];\n";
  EXPECT_THAT(test::run(rows(std::string(kWait) + "bar.warp.sync 0xffffffff;\n", x4)).outcome.conflicts,
              IsEmpty());
  EXPECT_THAT(test::run(rows(kWait, x4)).outcome.conflicts, SizeIs(1)) << "a row of another lane";
  EXPECT_THAT(test::run(rows("", x4)).outcome.conflicts, SizeIs(1));
}

TEST(LdMatrix, AddressesOfUnusedLanesDoNotMatter) {
  const std::string x1 =
      "mov.u32 %r9, -1;\nsetp.lt.u32 %p1, %lane, 8;\nselp.b32 %r8, %s, %r9, %p1;\n"
      "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r1}, [%r8];\n";
  EXPECT_THAT(test::limitsOf(test::run(x1)), IsEmpty());
}

TEST(LdMatrix, ReadsOfOtherLanesCountWhenTheSlotIsRefilled) {
  // Every lane refills the row whose address it gave; other lanes may still read it.
  const std::string load = "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r1, %r2, %r3, %r4}, [%s];\n";
  const std::string refill = "cp.async.cg.shared.global [%s], [%g+8192], 16;\ncp.async.wait_all;\n";
  EXPECT_THAT(test::run(load + refill).outcome.conflicts, SizeIs(1));
  EXPECT_THAT(test::run(load + "bar.warp.sync 0xffffffff;\n" + refill).outcome.conflicts, IsEmpty());
}

TEST(StMatrix, WritesRaceWithACopyInFlight) {
  EXPECT_THAT(
      test::run(
          kCopy +
          std::string(
              "stmatrix.sync.aligned.m8n8.x4.shared.b16 [%s], {%r1, %r2, %r3, %r4};\ncp.async.wait_all;\n"))
          .outcome.conflicts,
      SizeIs(1));
}

TEST(Wmma, LoadReadsRowsAtTheStride) {
  const std::string load =
      "wmma.load.a.sync.aligned.row.m16n16k16.shared.f16 {%r1, %r2, %r3, %r4, %r5, %r6, %r7, %r8}, [tile], "
      "16;\n";
  EXPECT_THAT(test::run(rows("", load)).outcome.conflicts, SizeIs(1));
  EXPECT_THAT(test::run(rows(std::string(kWait) + kSync, load)).outcome.conflicts, IsEmpty());
}

TEST(Copies, SourceBeforeItsBufferIsNoNullPointer) {
  const auto copyFrom = [](const std::string& source) {
    return test::run("mov.u64 %d1, " + source + ";\nmov.u32 %r20, tile;\n" +
                     "cp.async.cg.shared.global [%r20], [%d1], 16;\n" + kCommit + kWait);
  };
  EXPECT_THAT(copyFrom("1099511619328").outcome.misuses, IsEmpty()) << "the first buffer less 8448 bytes";
  EXPECT_THAT(copyFrom("64").outcome.misuses, ::testing::Not(IsEmpty()));
}

TEST(Wmma, GenericAddressIsCutToTheSharedWindow) {
  const std::string load =
      "cvt.u64.u32 %d1, %s;\ncvta.shared.u64 %d1, %d1;\n"
      "wmma.load.a.sync.aligned.row.m16n16k16.shared::cta.bf16 {%r1, %r2, %r3, %r4}, [%d1], 16;\n";
  const test::Ran ran = test::run(load);
  EXPECT_THAT(ran.outcome.misuses, IsEmpty());
}

TEST(Wmma, RowsBesideTheTileAreNotRead) {
  // Rows of 32 bytes at a stride of 64: the second half of each is free for the copy of another warp's slot.
  const std::string load =
      "wmma.load.a.sync.aligned.row.m16n16k16.shared.f16 {%r1, %r2, %r3, %r4, %r5, %r6, %r7, %r8}, [tile], "
      "32;\n";
  const std::string copy =
      "shl.b32 %r20, %lane, 6;\nmov.u32 %r21, tile;\nadd.u32 %r20, %r20, %r21;\n"
      "cp.async.cg.shared.global [%r20+32], [%g], 16;\n";
  EXPECT_THAT(test::run(copy + load + "cp.async.wait_all;").outcome.conflicts, IsEmpty());
}

// --- packing and lane communication ---

TEST(Moves, HalvesArePackedAndUnpacked) {
  EXPECT_EQ(shown("mov.u64 %d1, 0x1122334455667788;\nmov.b64 {%r1, %r2}, %d1;\n")[0], 0x55667788u);
  EXPECT_EQ(shown("mov.u64 %d1, 0x1122334455667788;\nmov.b64 {%r2, %r1}, %d1;\n")[0], 0x11223344u);
  EXPECT_EQ(
      shown("mov.u32 %r2, 7;\nmov.b64 %d1, {%lane, %r2};\nshr.u64 %d2, %d1, 32;\ncvt.u32.u64 %r1, %d2;\n")[9],
      7u);
}

TEST(Shuffles, MoveWordsBetweenLanes) {
  EXPECT_EQ(shown("shfl.sync.idx.b32 %r1, %lane, 3, 31, 0xffffffff;\n")[17], 3u);
  EXPECT_EQ(shown("shfl.sync.up.b32 %r1, %lane, 2, 0, 0xffffffff;\n")[17], 15u);
  EXPECT_EQ(shown("shfl.sync.up.b32 %r1, %lane, 2, 0, 0xffffffff;\n")[1], 1u) << "out of range: its own";
  EXPECT_EQ(shown("shfl.sync.down.b32 %r1, %lane, 2, 31, 0xffffffff;\n")[17], 19u);
  EXPECT_EQ(shown("shfl.sync.bfly.b32 %r1, %lane, 4, 31, 0xffffffff;\n")[17], 21u);
  EXPECT_EQ(shown("shfl.sync.idx.b32 %r1, %lane, 1, 0x181f, 0xffffffff;\n")[17], 17u)
      << "segments of 8: lane 1 of 16-23";
}

TEST(Votes, CountTheirLanes) {
  EXPECT_EQ(shown("setp.lt.u32 %p1, %lane, 3;\nvote.sync.ballot.b32 %r1, %p1, 0xffffffff;\n")[9], 7u);
  EXPECT_EQ(
      shown(
          "setp.lt.u32 %p1, %lane, 3;\nvote.sync.any.pred %p2, %p1, 0xffffffff;\nselp.u32 %r1, 5, 6, %p2;\n")
          [9],
      5u);
  EXPECT_EQ(
      shown(
          "setp.lt.u32 %p1, %lane, 3;\nvote.sync.all.pred %p2, %p1, 0xffffffff;\nselp.u32 %r1, 5, 6, %p2;\n")
          [9],
      6u);
  EXPECT_EQ(
      shown(
          "setp.lt.u32 %p1, %lane, 3;\nvote.sync.all.pred %p2, !%p1, 0xffffffff;\nselp.u32 %r1, 5, 6, %p2;\n")
          [9],
      6u);
}

TEST(Elect, OneLaneIsElected) {
  const auto words = shown("elect.sync _|%p1, 0xffffffff;\nselp.u32 %r1, 5, 6, %p1;\n");
  EXPECT_THAT(words, ::testing::Contains(5u).Times(1));
}

TEST(Redux, JoinsTheLanes) {
  EXPECT_EQ(shown("redux.sync.add.s32 %r1, %lane, 0xffffffff;\n")[9], 496u);
  EXPECT_EQ(shown("redux.sync.or.b32 %r1, %lane, 0xffffffff;\n")[9], 31u);
}

}  // namespace
}  // namespace handoff::machine
