// SPDX-License-Identifier: Apache-2.0
// A write that another one followed without an order still counts: either may have come last.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analyzer/test_support/ptx_kernel.h"

namespace handoff::machine {
namespace {

using ::testing::IsEmpty;
using ::testing::Not;

/// Three warps. Warps 0 and 1 execute `zero` and `one`; of these only `arriver` is ordered before what warp 2 does, `last`;
/// 2: both are. %r9 is the shared address of 16 bytes for each lane, alike in all warps.
Outcome run(const std::string& zero, const std::string& one, unsigned arriver, const std::string& last) {
  const bool both = arriver == 2;
  const std::string barrier = both ? "1, 96;\n" : "1, 64;\n";
  const auto writer = [&](unsigned warp, const std::string& text) {
    return text + (both || warp == arriver ? "bar.arrive " + barrier : "") + "bra END;\n";
  };
  const std::string text =
      "shl.b32 %r9, %lane, 4;\nmov.u32 %r8, tile;\nadd.u32 %r9, %r9, %r8;\n"
      "setp.eq.u32 %p1, %w, 2;\n@%p1 bra LAST;\nsetp.eq.u32 %p2, %w, 1;\n@%p2 bra ONE;\n" +
      writer(0, zero) + "ONE:\n" + writer(1, one) + "LAST:\nbar.sync " + barrier + last + "END:\n";
  return test::run(text, {.block = {96, 1, 1}}).outcome;
}

const std::string kStore = "st.shared.u32 [%r9], %r1;\n";
const std::string kAtomic = "red.shared.add.u32 [%r9], 1;\n";
const std::string kVolatile = "st.volatile.shared.u32 [%r9], %r1;\n";
const std::string kRefill = "cp.async.ca.shared.global [%r9], [%g], 4;\ncp.async.commit_group;\ncp.async.wait_group 0;\n";
const std::string kLoad = "ld.shared.u32 %r2, [%r9];\n";

TEST(UnorderedWrites, EachOfTwoCountsForACopyBehindTheOther) {
  for (const std::string& write : {kStore, kAtomic, kVolatile}) {
    for (const unsigned arriver : {0u, 1u}) EXPECT_THAT(run(write, write, arriver, kRefill).conflicts, Not(IsEmpty())) << arriver << write;
    EXPECT_THAT(run(write, write, 2, kRefill).conflicts, IsEmpty()) << write;
  }
}

TEST(UnorderedWrites, EachOfTwoCountsForAReadBehindTheOther) {
  for (const std::string& write : {kStore, kAtomic}) {
    for (const unsigned arriver : {0u, 1u}) EXPECT_THAT(run(write, write, arriver, kLoad).conflicts, Not(IsEmpty())) << arriver << write;
    EXPECT_THAT(run(write, write, 2, kLoad).conflicts, IsEmpty()) << write;
  }
}

// Two plain stores may come in any order; a read before one of them is not ordered with the other by that.
TEST(UnorderedWrites, AReadIsNotHiddenByAStoreThatNothingOrders) {
  EXPECT_THAT(run(kLoad + kStore, "", 1, kStore).conflicts, Not(IsEmpty()));
  EXPECT_THAT(run(kLoad + kStore, "", 0, kStore).conflicts, IsEmpty());
  EXPECT_THAT(run(kStore, "", 1, kStore).conflicts, IsEmpty());
  const std::string scatter = "ld.global.u32 %r5, [%g];\nand.b32 %r5, %r5, 508;\nadd.u32 %r5, %r5, %r8;\nst.shared.u32 [%r5], %r1;\n";
  EXPECT_THAT(run(kLoad + kStore, "", 1, scatter).conflicts, Not(IsEmpty())) << "at a place that data give";
  EXPECT_THAT(run(kLoad + kStore, "", 0, scatter).conflicts, IsEmpty());
}

TEST(UnorderedWrites, OnesOfDifferentKindsCount) {
  for (const unsigned arriver : {0u, 1u}) {
    EXPECT_THAT(run(kStore, kAtomic, arriver, kRefill).conflicts, Not(IsEmpty()));
    EXPECT_THAT(run(kAtomic, kStore, arriver, kRefill).conflicts, Not(IsEmpty()));
  }
}

// An atomic reads what a plain store may just replace: an update is lost, or counted from what was there before.
TEST(UnorderedWrites, APlainStoreRacesAnAtomicWhoeverComesFirst) {
  EXPECT_THAT(run(kStore, kAtomic, 2, "").conflicts, Not(IsEmpty()));
  EXPECT_THAT(run(kAtomic, kStore, 2, "").conflicts, Not(IsEmpty()));
  EXPECT_THAT(run(kAtomic + "bar.arrive 2, 64;\n", "bar.sync 2, 64;\n" + kStore, 2, kLoad).conflicts, IsEmpty());
  for (const std::string& strong : {kAtomic, kVolatile}) EXPECT_THAT(run(kAtomic, strong, 2, kLoad).conflicts, IsEmpty()) << strong;
  EXPECT_THAT(run(kStore, kStore, 2, kLoad).conflicts, IsEmpty());
}

TEST(UnorderedWrites, AnAtomicHidesNothingFromTheAtomicsOfOthers) {
  for (const std::string& write : {kStore, kRefill}) {
    EXPECT_THAT(run(write + kAtomic, kAtomic, 2, "").conflicts, Not(IsEmpty())) << write;
    EXPECT_THAT(run(write + kAtomic + kAtomic, kAtomic, 2, "").conflicts, Not(IsEmpty())) << write;
    // The barrier of warps 0 and 1 orders what is written, and the atomics need no order.
    EXPECT_THAT(run(write + "bar.sync 2, 64;\n" + kAtomic, "bar.sync 2, 64;\n" + kAtomic, 2, kLoad).conflicts, IsEmpty()) << write;
    EXPECT_THAT(run(write + "bar.sync 2, 64;\n" + kAtomic, "bar.sync 2, 64;\n" + kAtomic, 2, kRefill).conflicts, IsEmpty()) << write;
  }
}

TEST(UnorderedWrites, OneThatIsOverwrittenInOrderCountsNoMore) {
  // Warp 2 is ordered behind warp 1 only, which is ordered behind warp 0.
  const std::string then = "bar.sync 2, 64;\n";
  EXPECT_THAT(run(kStore + "bar.arrive 2, 64;\n", then + kStore, 1, kRefill).conflicts, IsEmpty());
}

TEST(UnorderedWrites, LanesOfOneInstructionAreTwoWriters) {
  const auto conflicts = [](const std::string& between) {
    return test::run("st.shared.u32 [tile], %r1;\n" + between + "setp.eq.u32 %p1, %lane, 31;\n"
                     "@%p1 cp.async.ca.shared.global [tile], [%in], 4;\ncp.async.commit_group;\ncp.async.wait_group 0;\n")
        .outcome.conflicts;
  };
  EXPECT_THAT(conflicts(""), Not(IsEmpty()));
  EXPECT_THAT(conflicts("bar.warp.sync 0xffffffff;\n"), IsEmpty());
}

TEST(UnorderedWrites, StrongReadOutlivesAStrongWrite) {
  const std::string read = "ld.volatile.shared.u32 %r2, [%r9];\n";
  EXPECT_THAT(run(read, kVolatile, 1, kRefill).conflicts, Not(IsEmpty()));
  EXPECT_THAT(run(read, kVolatile, 2, kRefill).conflicts, IsEmpty());
}

TEST(UnorderedWrites, CopiesOfTheSameBytesBothHaveToBeOver) {
  const std::string copy = "shl.b32 %r3, %lane, 4;\ncvt.u64.u32 %d1, %r3;\nadd.u64 %d1, %d1, %in;\n"
                           "cp.async.cg.shared.global [%r9], [%d1], 16;\ncp.async.commit_group;\ncp.async.wait_group 0;\n";
  for (const unsigned arriver : {0u, 1u}) {
    EXPECT_THAT(run(copy, copy, arriver, kStore).conflicts, Not(IsEmpty())) << "the other one may still be on its way";
  }
  EXPECT_THAT(run(copy, copy, 1, kLoad).conflicts, IsEmpty()) << "the other one brings nothing else";
  EXPECT_THAT(run(copy, copy, 2, kStore).conflicts, IsEmpty());
}

TEST(UnorderedWrites, OneWhoseAddressIsDataStaysBehindAStore) {
  const std::string store = "ld.global.u32 %r5, [%g];\nand.b32 %r5, %r5, 31;\nshl.b32 %r5, %r5, 4;\nadd.u32 %r5, %r5, %r8;\n"
                            "st.shared.u32 [%r5], %r1;\n";
  EXPECT_THAT(run(store, kStore, 1, kRefill).conflicts, Not(IsEmpty()));
  EXPECT_THAT(run(store, kStore, 2, kRefill).conflicts, IsEmpty());
}

TEST(UnorderedWrites, InitialisationOfABarrierIsAWrite) {
  const auto conflicts = [](const std::string& between) {
    return test::run("cp.async.cg.shared.global [%s], [%g], 16;\ncp.async.commit_group;\n" + between +
                     "setp.eq.u32 %p1, %t, 0;\n@%p1 mbarrier.init.shared.b64 [tile], 1;\ncp.async.wait_group 0;\n")
        .outcome.conflicts;
  };
  EXPECT_THAT(conflicts(""), Not(IsEmpty()));
  EXPECT_THAT(conflicts("cp.async.wait_group 0;\n"), IsEmpty());
}

TEST(UnorderedWrites, InvalidationOfABarrierIsAWrite) {
  const auto conflicts = [](const std::string& between) {
    return test::run("setp.eq.u32 %p1, %t, 1;\n@%p1 mbarrier.init.shared.b64 [bar], 1;\nbar.sync 0;\n"
                     "@%p1 mbarrier.inval.shared.b64 [bar];\n" + between +
                     "setp.eq.u32 %p2, %t, 0;\n@%p2 cp.async.ca.shared.global [bar], [%in], 8;\n"
                     "cp.async.commit_group;\ncp.async.wait_group 0;\n")
        .outcome.conflicts;
  };
  EXPECT_THAT(conflicts(""), Not(IsEmpty()));
  EXPECT_THAT(conflicts("bar.sync 0;\n"), IsEmpty());
}

}  // namespace
}  // namespace handoff::machine
