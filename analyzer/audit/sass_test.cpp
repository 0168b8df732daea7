// SPDX-License-Identifier: Apache-2.0
#include "analyzer/audit/sass.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

namespace handoff::audit {
namespace {

// As cuobjdump 13 prints it, with fewer lines.
constexpr const char* kText = R"(
Fatbin elf code:
================
arch = sm_90a

	code for sm_90a
		Function : _Z4ringPK6float4
	.headerflags	@"EF_CUDA_TEXMODE_UNIFIED EF_CUDA_64BIT_ADDRESS EF_CUDA_ACCELERATORS EF_CUDA_SM90"
        /*0000*/                   LDC R1, c[0x0][0x28] ;                               /* 0x00000a00ff017b82 */
                                                                                        /* 0x000fe20000000800 */
        /*0010*/               @P0 LDGSTS.E.BYPASS.128 [R3], desc[UR4][R6.64] ;         /* 0x0000000006037fae */
        /*0020*/              @!P1 LDGSTS.E [R3+0x10], desc[UR4][R6.64] ;               /* 0x0000000006037fae */
        /*0030*/                   LDGSTS.E.BYPASS.128 [R5], desc[UR4][R8.64] ;         /* 0x0000000006037fae */
        /*0040*/                   LDGDEPBAR ;                                          /* 0x00000000000079af */
        /*0050*/                   UTMALDG.2D [UR8], [UR4] ;                            /* 0x00000008040075b4 */
		..........


		Function : plain
        /*0000*/                   LDG.E.128 R4, desc[UR4][R2.64] ;                     /* 0x0000000402047981 */
        /*0010*/                   STS.128 [R0], R4 ;                                   /* 0x0000000400007388 */
)";

TEST(Sass, CountsByOpcode) {
  const std::vector<SassFunction> functions = parseSass(kText);
  ASSERT_EQ(functions.size(), 2u);
  EXPECT_EQ(functions[0].name, "_Z4ringPK6float4");
  EXPECT_EQ(functions[0].arch, "sm_90a");
  EXPECT_EQ(functions[0].opcodesOf(Lowering::kCpAsync), "LDGSTS.E.BYPASS.128 (2), LDGSTS.E (1)");
  EXPECT_EQ(functions[0].opcodesOf(Lowering::kTensor), "UTMALDG.2D (1)");
}

TEST(Sass, CompletionIsNoCopy) { EXPECT_EQ(parseSass(kText)[0].instructions.size(), 3u); }

TEST(Sass, SeesPlainCopies) {
  const SassFunction function = parseSass(kText)[1];
  EXPECT_TRUE(function.instructions.empty());
  EXPECT_EQ(function.plain_loads, 1u);
  EXPECT_EQ(function.plain_stores, 1u);
}

// As nvdisasm 13 prints it with -gi -c.
constexpr const char* kWithLines = "\t.target\tsm_90a\n"
    "//--------------------- .text._Z4ringPK6float4 --------------------------\n"
    "\t.section\t.text._Z4ringPK6float4,\"ax\",@progbits\n"
    "_Z4ringPK6float4:\n"
    "\t//## File \"a.cu\", line 18 inlined at \"a.cu\", line 32\n"
    "\t//## File \"a.cu\", line 32\n"
    "        /*01a0*/              @!PT LDS RZ, [RZ] ;\n"
    "        /*01b0*/                   LDGSTS.E.BYPASS.128 [R9], desc[UR6][R4.64] ;\n"
    "\t//## File \"a.cu\", line 18 inlined at \"a.cu\", line 45\n"
    "\t//## File \"a.cu\", line 45\n"
    "        /*0550*/              @!P1 LDGSTS.E.BYPASS.128 [R19], desc[UR6][R12.64] ;\n"
    "        /*0560*/              @!P1 LDGSTS.E.BYPASS.128 [R20], desc[UR6][R12.64] ;\n";

TEST(Sass, CountsByLineWhereThereAreLines) {
  const std::vector<SassFunction> functions = parseSass(kWithLines);
  ASSERT_EQ(functions.size(), 1u);
  EXPECT_EQ(functions[0].name, "_Z4ringPK6float4");
  EXPECT_EQ(functions[0].arch, "sm_90a");
  EXPECT_EQ(functions[0].opcodesOf(Lowering::kCpAsync, 32), "LDGSTS.E.BYPASS.128 (1)");
  EXPECT_EQ(functions[0].opcodesOf(Lowering::kCpAsync, 45), "LDGSTS.E.BYPASS.128 (2)");
  EXPECT_EQ(functions[0].opcodesOf(Lowering::kCpAsync, 33), "");
  EXPECT_EQ(functions[0].opcodesOf(Lowering::kCpAsync), "LDGSTS.E.BYPASS.128 (3)");
}

TEST(Sass, WithoutLinesEveryLineHasThemAll) {
  EXPECT_FALSE(parseSass(kText)[0].hasLines());
  EXPECT_EQ(parseSass(kText)[0].opcodesOf(Lowering::kTensor, 7), "UTMALDG.2D (1)");
}

// What nvdisasm -gi -c and cuobjdump -sass of CUDA 13.0 (V13.0.85) print for runtime/tests/zero_cost/thread_ring_library.cu,
// compiled with -lineinfo for sm_90a; only the paths were cut.
std::string printed(const std::string& by) {
  std::ifstream file(std::string(HANDOFF_AUDIT_TESTDATA) + "/thread_ring." + by);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(Sass, ReadsWhatNvdisasmPrints) {
  const std::vector<SassFunction> functions = parseSass(printed("nvdisasm"));
  ASSERT_EQ(functions.size(), 1u);
  EXPECT_EQ(functions[0].name, "ring");
  EXPECT_EQ(functions[0].arch, "sm_90a");
  EXPECT_EQ(functions[0].opcodesOf(Lowering::kCpAsync, 15), "LDGSTS.E.BYPASS.128 (3)");
  EXPECT_EQ(functions[0].opcodesOf(Lowering::kCpAsync, 21), "LDGSTS.E.BYPASS.128 (4)");
  EXPECT_EQ(functions[0].opcodesOf(Lowering::kCpAsync), "LDGSTS.E.BYPASS.128 (8)");
  EXPECT_EQ(functions[0].plain_loads, 0u);
  EXPECT_EQ(functions[0].plain_stores, 0u);
}

TEST(Sass, ReadsWhatCuobjdumpPrints) {
  const std::vector<SassFunction> functions = parseSass(printed("cuobjdump"));
  ASSERT_EQ(functions.size(), 1u);
  EXPECT_EQ(functions[0].name, "ring");
  EXPECT_EQ(functions[0].arch, "sm_90a");
  EXPECT_FALSE(functions[0].hasLines());
  EXPECT_EQ(functions[0].opcodesOf(Lowering::kCpAsync), "LDGSTS.E.BYPASS.128 (8)");
}

TEST(Sass, OtherTextHasNoFunctions) {
  EXPECT_TRUE(parseSass("").empty());
  EXPECT_TRUE(parseSass("no SASS here\n/*0000*/ LDGSTS.E [R1] ;\n").empty());
}

}  // namespace
}  // namespace handoff::audit
