// SPDX-License-Identifier: Apache-2.0
// Which kernel parameters a launch has to give, and which are pointers.
#include "analyzer/machine/param_reads.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analyzer/machine/program.h"
#include "analyzer/test_support/ptx_kernel.h"

namespace handoff::machine {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

/// Reads of a kernel with one 64-byte parameter "p"; the statements find %d0-7 and %r0-7.
std::vector<ParamRead> readsOf(const std::string& statements,
                               const char* parameter = ".param .align 8 .b8 p[64]") {
  const auto module =
      test::parseModule(std::string(".version 8.8\n.target sm_90a\n.address_size 64\n.visible .entry k(") +
                        parameter + ")\n{\n.reg .b32 %r<8>;\n.reg .b64 %d<8>;\n.reg .f32 %f<4>;\n" +
                        ".shared .align 16 .b8 tile[64];\n" + statements + "\nret;\n}\n");
  const Result<Program> program = buildProgram(*module, module->functions.front());
  EXPECT_TRUE(program.hasValue());
  return program ? program->param_reads : std::vector<ParamRead>{};
}

TEST(ParamReads, DataThatOnlyArithmeticUsesIsNotAsked) {
  EXPECT_THAT(readsOf("ld.param.f32 %f1, [p];\nadd.f32 %f2, %f1, %f1;"), IsEmpty());
}

TEST(ParamReads, BaseOfACopySourceIsAPointer) {
  EXPECT_THAT(readsOf("ld.param.u64 %d1, [p+8];\ncp.async.ca.shared.global [tile], [%d1], 4;"),
              ElementsAre(ParamRead{.param = 0, .offset = 8, .size = 8, .is_pointer = true}));
}

TEST(ParamReads, PointerIsFoundThroughConversionAndAddition) {
  EXPECT_THAT(readsOf("ld.param.u64 %d1, [p];\ncvta.to.global.u64 %d2, %d1;\nmov.u32 %r1, %tid.x;\n"
                      "mad.wide.u32 %d3, %r1, 4, %d2;\nadd.s64 %d4, %d3, 16;\ncp.async.ca.shared.global "
                      "[tile], [%d4], 4;"),
              ElementsAre(ParamRead{.param = 0, .offset = 0, .size = 8, .is_pointer = true}));
}

TEST(ParamReads, SixtyFourBitCountIsNoPointer) {
  EXPECT_THAT(
      readsOf(
          ".reg .pred %q;\nld.param.u64 %d1, [p];\nsetp.eq.s64 %q, %d1, 0;\n@%q bra END;\nbar.sync 0;\nEND:"),
      ElementsAre(ParamRead{.param = 0, .offset = 0, .size = 8, .is_pointer = false}));
}

TEST(ParamReads, StrideAddedToAPointerByMultiplicationIsNoPointer) {
  EXPECT_THAT(readsOf("ld.param.u64 %d1, [p];\nld.param.u64 %d2, [p+8];\nmad.lo.s64 %d3, %d2, 4, %d1;\n"
                      "cp.async.ca.shared.global [tile], [%d3], 4;"),
              ElementsAre(ParamRead{.param = 0, .offset = 0, .size = 8, .is_pointer = true},
                          ParamRead{.param = 0, .offset = 8, .size = 8, .is_pointer = false}));
}

TEST(ParamReads, OffsetAddedToAPointerIsNone) {
  for (const char* sum : {"add.s64 %d4, %d2, %d3;", "add.s64 %d4, %d3, %d2;"}) {
    EXPECT_THAT(readsOf(std::string("ld.param.u64 %d1, [p];\ncvta.to.global.u64 %d2, %d1;\nld.param.u64 %d3, [p+8];\n") + sum +
                        "\ncp.async.ca.shared.global [tile], [%d4], 4;"),
                ElementsAre(ParamRead{.param = 0, .offset = 0, .size = 8, .is_pointer = true},
                            ParamRead{.param = 0, .offset = 8, .size = 8, .is_pointer = false}));
  }
}

TEST(ParamReads, DeclaredPointerIsOne) {
  EXPECT_THAT(
      readsOf(
          ".reg .pred %q;\nld.param.u64 %d1, [p];\nsetp.eq.s64 %q, %d1, 0;\n@%q bra END;\nbar.sync 0;\nEND:",
          ".param .u64 .ptr .global .align 16 p"),
      ElementsAre(ParamRead{.param = 0, .offset = 0, .size = 8, .is_pointer = true}));
}

TEST(ParamReads, VectorReadIsOneReadAnElement) {
  EXPECT_THAT(readsOf("ld.param.v2.u32 {%r1, %r2}, [p+16];\nadd.u32 %r3, %r1, "
                      "%r2;\ncp.async.ca.shared.global [%r3], [%d1], 4;"),
              ElementsAre(ParamRead{.param = 0, .offset = 16, .size = 4, .is_pointer = false},
                          ParamRead{.param = 0, .offset = 20, .size = 4, .is_pointer = false}));
}

TEST(ParamReads, TheAddressOfAStructureMayBeInARegister) {
  EXPECT_THAT(readsOf("mov.b64 %d2, p;\nld.param.u32 %r1, [%d2+12];\ncp.async.ca.shared.global [%r1], [%d1], 4;"),
              ElementsAre(ParamRead{.param = 0, .offset = 12, .size = 4, .is_pointer = false}));
  EXPECT_THAT(readsOf("mov.b64 %d2, p;\nadd.s64 %d2, %d2, 4;\nld.param.u32 %r1, [%d2+12];\ncp.async.ca.shared.global [%r1], [%d1], 4;"),
              IsEmpty());
}

TEST(ParamReads, SameReadTwiceIsOne) {
  EXPECT_THAT(readsOf("ld.param.u32 %r1, [p];\nld.param.u32 %r2, [p];\nadd.u32 %r3, %r1, %r2;\n"
                      "cp.async.ca.shared.global [%r3], [%d1], 4;"),
              ElementsAre(ParamRead{.param = 0, .offset = 0, .size = 4, .is_pointer = false}));
}

TEST(ParamReads, HalfOfANumberIsAReadOfTheNumber) {
  const std::string half = ".reg .pred %q;\nld.param.u32 %r1, [p];\nsetp.eq.s32 %q, %r1, 0;\n@%q bra END;\nbar.sync 0;\nEND:";
  EXPECT_THAT(readsOf(half, ".param .u64 p"), ElementsAre(ParamRead{.param = 0, .offset = 0, .size = 8, .is_pointer = false}));
  EXPECT_THAT(readsOf(half), ElementsAre(ParamRead{.param = 0, .offset = 0, .size = 4, .is_pointer = false}));
}

}  // namespace
}  // namespace handoff::machine
