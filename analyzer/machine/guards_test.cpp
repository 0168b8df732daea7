// SPDX-License-Identifier: Apache-2.0
// What depends on a branch: the cases that look like accesses alone and are not come first.
#include "analyzer/machine/guards.h"

#include <gtest/gtest.h>

#include <variant>

#include "analyzer/test_support/ptx_kernel.h"

namespace handoff::machine {
namespace {

/// Of the first branch with a guard.
GuardClass classOf(const std::string& statements) {
  const test::Ran ran = test::run("setp.lt.u32 %p1, %t, %n;\n" + statements);
  Guards guards(ran.program);
  for (OpIndex op = 0; op < ran.program.ops.size(); ++op) {
    const bool is_branch = std::holds_alternative<ptx::Branch>(ran.program.ops[op].decoded->effect);
    if (is_branch && ran.program.ops[op].guard != kNoSlot) return guards.classify(op);
  }
  ADD_FAILURE() << "no branch";
  return GuardClass::kUnknown;
}

const std::string kRead = "ld.shared.u32 %r1, [%s];\nst.global.u32 [%out], %r1;\n";

TEST(Guards, ABarrierOnOneSideIsControl) {
  EXPECT_EQ(classOf("@%p1 bra END;\nbar.sync 0;\nEND:\nret;\n"), GuardClass::kControl);
}

TEST(Guards, AWaitOnTheWayOutIsControl) {
  EXPECT_EQ(classOf(std::string(test::kCopy) + "@%p1 bra END;\ncp.async.wait_all;\nEND:\nret;\n"),
            GuardClass::kControl);
}

TEST(Guards, LeavingBeforeABarrierIsControl) {
  EXPECT_EQ(classOf("@%p1 bra END;\n" + kRead + "bar.sync 0;\n" + kRead + "END:\nret;\n"),
            GuardClass::kControl);
}

TEST(Guards, AStoreToSharedMemoryOnTheWayOutIsControl) {
  EXPECT_EQ(classOf("@%p1 bra END;\nst.shared.u32 [%s], %t;\nEND:\nret;\n"), GuardClass::kControl);
}

TEST(Guards, SomethingOnBothSidesIsControl) {
  EXPECT_EQ(classOf("@%p1 bra OTHER;\n" + kRead +
                    "ret;\nOTHER:\nld.shared.u32 %r2, [%s+4];\nst.global.u32 [%out+4], %r2;\nret;\n"),
            GuardClass::kControl);
}

TEST(Guards, AReadBeforeTheSidesMeetIsAnAccess) {
  EXPECT_EQ(classOf("@%p1 bra MEET;\n" + kRead + "MEET:\nbar.sync 0;\n"), GuardClass::kAccessIfNotTaken);
}

TEST(Guards, AReadOnTheWayOutIsAnAccess) {
  EXPECT_EQ(classOf("@%p1 bra END;\n" + kRead + "END:\nret;\n"), GuardClass::kAccessIfNotTaken);
  EXPECT_EQ(classOf("@%p1 bra LAST;\nret;\nLAST:\n" + kRead + "ret;\n"), GuardClass::kAccessIfTaken);
}

TEST(Guards, ALoopOfReadsOnTheWayOutIsAnAccess) {
  EXPECT_EQ(classOf("mov.u32 %r5, %t;\nLOOP:\nld.shared.u32 %r1, [%s];\nadd.u32 %r5, %r5, 8;\nsetp.lt.u32 "
                    "%p2, %r5, %n;\n@%p2 bra LOOP;\nret;\n"),
            GuardClass::kAccessIfTaken);
}

TEST(Guards, AGlobalAtomicIsAnAccessWhereCopiesRead) {
  const std::string atomic = "@%p1 bra MEET;\nred.global.add.u32 [%out], 1;\nMEET:\nbar.sync 0;\n";
  EXPECT_EQ(classOf(test::kCopy + atomic), GuardClass::kAccessIfNotTaken);
  EXPECT_EQ(classOf(atomic), GuardClass::kSilent);
  EXPECT_EQ(classOf(std::string(test::kCopy) + "@%p1 bra MEET;\nst.volatile.global.u32 [%out], 1;\nMEET:\nbar.sync 0;\n"),
            GuardClass::kAccessIfNotTaken);
  EXPECT_EQ(classOf(std::string(test::kCopy) + "@%p1 bra MEET;\nred.release.gpu.global.add.u32 [%out], 1;\nMEET:\nbar.sync 0;\n"),
            GuardClass::kControl);
}

TEST(Guards, LeavingEitherWayIsSilent) {
  EXPECT_EQ(classOf("@%p1 bra END;\nadd.u32 %r1, %t, 1;\nEND:\nret;\n"), GuardClass::kSilent);
}

}  // namespace
}  // namespace handoff::machine
