// SPDX-License-Identifier: Apache-2.0
// What the protocol slice keeps, and what it leaves out.
#include "analyzer/machine/slice.h"

#include <gtest/gtest.h>

#include "analyzer/test_support/ptx_kernel.h"

namespace handoff::machine {
namespace {

struct Sliced {
  std::unique_ptr<ptx::Module> module;
  Slice slice;

  bool isExecuted(std::string_view opcode) const {
    const auto& instructions = module->functions.front().instructions;
    for (std::size_t i = 0; i < instructions.size(); ++i) {
      if (instructions[i].opcode == opcode) return slice.is_executed[i];
    }
    ADD_FAILURE() << "no " << opcode;
    return false;
  }
};

Sliced slice(std::string_view statements) {
  Sliced sliced{.module = test::parseModule(test::kernelText(statements)), .slice = {}};
  sliced.slice = computeSlice(sliced.module->functions.front());
  return sliced;
}

TEST(Slice, ArithmeticOnDataIsLeftOut) {
  const Sliced s = slice(
      "ld.shared.f32 %f1, [%s];\nfma.rn.f32 %f2, %f1, %f1, %f1;\nmul.hi.u32 %r2, %r1, %r1;\nst.global.f32 "
      "[%g], %f2;");
  EXPECT_FALSE(s.isExecuted("fma.rn.f32"));
  EXPECT_FALSE(s.isExecuted("mul.hi.u32"));
  EXPECT_TRUE(s.isExecuted("ld.shared.f32"));
  EXPECT_FALSE(s.slice.needs_shared_contents);
}

TEST(Slice, TensorCoreArithmeticIsLeftOut) {
  EXPECT_FALSE(slice("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f0,%f1,%f2,%f3}, "
                     "{%r0,%r1,%r2,%r3}, {%r4,%r5}, "
                     "{%f0,%f1,%f2,%f3};")
                   .isExecuted("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"));
}

TEST(Slice, AddressesOfCopiesAreKept) {
  const Sliced s =
      slice("rem.u32 %r1, %t, 3;\nadd.u32 %r2, %s, %r1;\ncp.async.ca.shared.global [%r2], [%g], 4;");
  EXPECT_TRUE(s.isExecuted("rem.u32"));
  EXPECT_TRUE(s.slice.has_async_copies);
}

TEST(Slice, BranchConditionsAreKept) {
  EXPECT_TRUE(slice("rem.u32 %r1, %t, 3;\nsetp.eq.u32 %p1, %r1, 0;\n@%p1 bra END;\nbar.sync 0;\nEND:")
                  .isExecuted("rem.u32"));
}

TEST(Slice, StoredDataIsLeftOutWhileNobodyLooksAtSharedMemory) {
  const Sliced s = slice("rem.u32 %r1, %t, 3;\nst.shared.u32 [%s], %r1;");
  EXPECT_FALSE(s.isExecuted("rem.u32"));
  EXPECT_TRUE(s.isExecuted("st.shared.u32"));
}

TEST(Slice, ALoadedIndexMakesSharedContentsNeeded) {
  const Sliced s = slice(
      "rem.u32 %r1, %t, 3;\nst.shared.u32 [%s], %r1;\nld.shared.u32 %r2, [%s];\n"
      "cp.async.ca.shared.global [%r2], [%g], 4;");
  EXPECT_TRUE(s.slice.needs_shared_contents);
  EXPECT_TRUE(s.isExecuted("rem.u32")) << "the data of the store, found after the store was passed";
}

TEST(Slice, GlobalLoadsAreOpaque) {
  const Sliced s = slice(
      "rem.u32 %r1, %t, 3;\nmul.wide.u32 %d1, %r1, 4;\nadd.s64 %d2, %out, %d1;\n"
      "ld.global.u32 %r2, [%d2];\ncp.async.ca.shared.global [%r2], [%g], 4;");
  EXPECT_TRUE(s.isExecuted("ld.global.u32"));
  EXPECT_FALSE(s.isExecuted("rem.u32")) << "the loaded word is unknown whatever the address";
}

TEST(Slice, StackIsFollowedWhenReadBack) {
  EXPECT_FALSE(slice("st.local.u32 [%d1], %r1;").isExecuted("st.local.u32"));
  EXPECT_TRUE(slice("st.local.u32 [%d1], %r1;\nld.local.u32 %r2, [%d1];\nadd.u32 %r3, %s, %r2;\n"
                    "cp.async.ca.shared.global [%r3], [%g], 4;")
                  .isExecuted("st.local.u32"));
}

TEST(Slice, BlockIndexInGlobalAddressesOnlyDoesNotMakeBlocksDiffer) {
  EXPECT_FALSE(slice("mov.u32 %r1, %ctaid.x;\nmad.wide.u32 %d1, %r1, 4096, %g;\n"
                     "cp.async.ca.shared.global [%s], [%d1], 4;\nst.global.u32 [%d1], %r2;")
                   .slice.depends_on_block);
}

TEST(Slice, BlockIndexInALoopBoundDoes) {
  EXPECT_TRUE(slice("mov.u32 %r1, %ctaid.x;\nsetp.lt.u32 %p1, %r1, %n;\n@%p1 bra END;\nbar.sync 0;\nEND:")
                  .slice.depends_on_block);
}

TEST(Slice, BlockIndexInASharedAddressDoes) {
  EXPECT_TRUE(
      slice("mov.u32 %r1, %ctaid.y;\nmad.lo.u32 %r2, %r1, 4, %s;\ncp.async.ca.shared.global [%r2], [%g], 4;")
          .slice.depends_on_block);
}

TEST(Slice, WholeFunctionLeavesNothingOut) {
  Sliced s = slice("fma.rn.f32 %f2, %f1, %f1, %f1;");
  s.slice = wholeFunction(s.module->functions.front());
  EXPECT_TRUE(s.isExecuted("fma.rn.f32"));
}

TEST(ProtocolEffect, ComputationBranchesAndGlobalAccessesHaveNone) {
  const auto has = [](const char* statement) {
    const auto module = test::parseModule(test::kernelText(statement));
    const auto& list = module->functions.front().instructions;
    return hasProtocolEffect(list[list.size() - 2]);
  };
  EXPECT_FALSE(has("add.u32 %r1, %r2, %r3;"));
  EXPECT_FALSE(has("ld.global.u32 %r1, [%g];"));
  EXPECT_FALSE(has("st.global.u32 [%g], %r1;"));
  EXPECT_FALSE(has("atom.global.add.u32 %r1, [%g], 1;"));
  EXPECT_FALSE(has("L: @%p1 bra L;"));
  EXPECT_TRUE(has("ld.shared.u32 %r1, [%s];"));
  EXPECT_TRUE(has("st.shared.u32 [%s], %r1;"));
  EXPECT_TRUE(has("bar.sync 0;"));
  EXPECT_TRUE(has("cp.async.commit_group;"));
}

}  // namespace
}  // namespace handoff::machine
