// SPDX-License-Identifier: Apache-2.0
#include "analyzer/machine/pointer_flow.h"

#include <gtest/gtest.h>

#include <variant>

#include "analyzer/machine/guards.h"
#include "analyzer/test_support/ptx_kernel.h"

namespace handoff::machine {
namespace {

const std::string kGuarded = "setp.lt.u32 %p1, %t, %n;\n@!%p1 bra END;\n";

/// Of the last store to global memory.
bool isStoreApart(const std::string& statements, const test::Setup& setup = {}) {
  const test::Ran ran = test::run(statements, setup);
  const Op* last = nullptr;
  for (const Op& op : ran.program.ops) {
    const bool is_store = std::holds_alternative<ptx::Store>(op.decoded->effect) && op.decoded->space() == ptx::Space::kGlobal;
    if (is_store) last = &op;
  }
  EXPECT_NE(last, nullptr);
  return last != nullptr && last->is_apart;
}

TEST(Apart, AStoreToABufferThatNoCopyReads) {
  EXPECT_TRUE(isStoreApart(std::string(test::kCopy) + "st.global.u32 [%out+4], %t;\n"));
  EXPECT_TRUE(isStoreApart(std::string(test::kCopy) + "mad.wide.u32 %d1, %t, 4, %out;\nst.global.u32 [%d1], %t;\n"));
}

TEST(Apart, NotOneToTheSourceOfACopy) {
  EXPECT_FALSE(isStoreApart(std::string(test::kCopy) + "st.global.u32 [%in+4], %t;\n"));
  EXPECT_FALSE(isStoreApart(std::string(test::kCopy) + "st.global.u32 [%g], %t;\n"));
}

TEST(Apart, NotOneThatMayLeadToEither) {
  EXPECT_FALSE(isStoreApart(std::string(test::kCopy) + "setp.eq.u32 %p1, %u, 0;\nselp.b64 %d1, %in, %out, %p1;\nst.global.u32 [%d1], %t;\n"));
  EXPECT_FALSE(isStoreApart(std::string(test::kCopy) +
                            "setp.eq.u32 %p1, %u, 0;\nmov.b64 %d1, %out;\n@%p1 mov.b64 %d1, %in;\nst.global.u32 [%d1], %t;\n"));
}

TEST(Apart, NotWhereAPointerComesFromMemory) {
  EXPECT_FALSE(isStoreApart(std::string(test::kCopy) + "ld.global.u64 %d1, [%out];\nst.global.u32 [%d1], %t;\n"));
  EXPECT_FALSE(isStoreApart("ld.global.u64 %d1, [%out];\ncp.async.ca.shared.global [%s], [%d1], 4;\nst.global.u32 [%out+8], %t;\n"));
}

TEST(Apart, NotAReleaseThatOthersMayWaitFor) {
  EXPECT_FALSE(isStoreApart(std::string(test::kCopy) + "st.release.gpu.global.u32 [%out+4], %t;\n"));
}

TEST(Apart, BulkCopiesInBothDirections) {
  const std::string head = "mov.u32 %r1, bar;\nmov.u32 %r2, tile;\n";
  const std::string load = "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r2], [%in], 16, [%r1];\n";
  const std::string store = "cp.async.bulk.global.shared::cta.bulk_group [%out], [%r2], 16;\n";
  EXPECT_TRUE(isStoreApart(head + load + "st.global.u32 [%out], %t;\n"));
  EXPECT_FALSE(isStoreApart(head + load + "st.global.u32 [%in], %t;\n"));
  EXPECT_FALSE(isStoreApart(head + store + "st.global.u32 [%out], %t;\n"));
  EXPECT_TRUE(isStoreApart(head + store + "st.global.u32 [%in], %t;\n"));
}

TEST(Apart, VariablesOfTheModuleAreABufferOfTheirOwn) {
  test::Setup setup;
  setup.functions = ".global .align 16 .b8 table[1024];\n";
  EXPECT_TRUE(isStoreApart(std::string(test::kCopy) + "st.global.u32 [table+4], %t;\n", setup));
  EXPECT_FALSE(isStoreApart("mov.u64 %d1, table;\ncp.async.ca.shared.global [%s], [%d1], 4;\nst.global.u32 [table+4], %t;\n", setup));
}

TEST(Apart, AGuardedOneLooksLikeNothing) {
  const test::Ran apart = test::run(std::string(test::kCopy) + kGuarded + "st.global.u32 [%out], %t;\nEND:\nret;\n");
  const test::Ran source = test::run(std::string(test::kCopy) + kGuarded + "st.global.u32 [%in], %t;\nEND:\nret;\n");
  const auto classOf = [](const test::Ran& ran) {
    Guards guards(ran.program);
    for (OpIndex op = 0; op < ran.program.ops.size(); ++op) {
      if (ran.program.ops[op].guard != kNoSlot) return guards.classify(op);
    }
    return GuardClass::kUnknown;
  };
  EXPECT_EQ(classOf(apart), GuardClass::kSilent);
  EXPECT_EQ(classOf(source), GuardClass::kAccessIfNotTaken);
}

TEST(Apart, TheSourceOfACopyIsWatchedStill) {
  EXPECT_NE(test::rulesOf(std::string(test::kCopy) + "st.global.u32 [%g], %t;\n" + test::kCommit + test::kWait + test::kReadOwn).size(), 0u);
}

}  // namespace
}  // namespace handoff::machine
