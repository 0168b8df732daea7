// SPDX-License-Identifier: Apache-2.0
// What is printed parses to an equal module.
#include "analyzer/ptx/printer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analyzer/ptx/test_modules.h"

namespace handoff::ptx {
namespace {

using test::body;
using test::kHeader;
using test::parseOk;

/// Statements of each compiler's dialect, written by hand.
constexpr const char* kNvcc = R"(
.extern .shared .align 16 .b8 dyn[];
.visible .entry _Z1kPf(.param .u64 _Z1kPf_param_0)
.maxntid 128, 1, 1
{
	.reg .pred 	%p<2>;
	.reg .b32 	%r<5>;
	.reg .f32 	%f<2>;
	.reg .b64 	%rd<5>;
	.loc	1 4 0
	// demoted variable
	.shared .align 16 .b8 _ZZ1kPfE4tile[1024];
	ld.param.u64 	%rd1, [_Z1kPf_param_0];
	.loc	1 5 3
	.loc	2 9 5, function_name $L__info_string0, inlined_at 1 5 3
	cvta.to.global.u64 	%rd2, %rd1;
	mov.u32 	%r1, _ZZ1kPfE4tile;
	mov.f32 	%f1, 0f3F800000;
	// begin inline asm
	{
		.reg .pred p;
		setp.ne.b32 p, %r1, 0;
		@p cp.async.cg.shared.global.L2::128B [%r1], [%rd2+16], 16, 16;
	}

	// end inline asm
	// begin inline asm
	{ .reg .pred p; .reg .b64 state; LAB: mbarrier.try_wait.parity.shared::cta.b64 p, [%r1], 1; @!p bra LAB; }
	// end inline asm
$L__BB0_1:
	.pragma "nounroll";
	setp.lt.s32 	%p1, %r1, 8;
	@%p1 bra 	$L__BB0_1;
	st.shared.v2.u32 	[dyn+8], {%r1, %r2};
	ret;
}
	.file	1 "k.cu"
	.file	2 "/usr/include/x/../lib.h"
	.section	.debug_str
	{
$L__info_string0:
.b8 95,90,49,102,118,0
	}
)";

constexpr const char* kClang = R"(
.extern .func (.param .b32 func_retval0) vprintf(.param .b64 vprintf_param_0, .param .b64 vprintf_param_1);
.global .align 1 .b8 _$_str[4] = {97, 98, 10};
.visible .entry _Z1kPf(
	.param .u64 .ptr .align 1 _Z1kPf_param_0
)
.maxntid 128
{
	.local .align 8 .b8 	__local_depot0[8];
	.reg .b64 	%SP;
	.reg .b64 	%SPL;
	.reg .pred 	%p<2>;
	.reg .b32 	%r<5>;
	.reg .b64 	%rd<5>;
$L__func_begin0:
	.loc	1 5 0                          // k.cu:5:0
// %bb.0:
	mov.b64 	%SPL, __local_depot0;
	cvta.local.u64 	%SP, %SPL;
	mov.b64 	%rd1, _$_str;
	{ // callseq 0, 0
	.param .b64 param0;
	.param .b64 param1;
	.param .b32 retval0;
	st.param.b64 	[param0], %rd1;
	st.param.b64 	[param1], %SP;
	call.uni (retval0), vprintf, (param0, param1);
	ld.param.b32 	%r1, [retval0];
	} // callseq 0
	{ // callseq 1, 0
	.param .b64 param0;
	.param .b64 param1;
	.param .b32 retval0;
	st.param.b64 	[param0], %rd1;
	st.param.b64 	[param1], 0;
	call.uni (retval0), vprintf, (param0, param1);
	ld.param.b32 	%r2, [retval0];
	} // callseq 1
	ret;
$L__func_end0:
}
	.section	.debug_macinfo	{	}
	.file	1 "k.cu"
)";

constexpr const char* kTriton = R"(
.extern .shared .align 16 .b8 global_smem[];
.visible .entry kernel(
	.param .u64 .ptr .global .align 1 kernel_param_0,
	.param .u32 kernel_param_1
)
.reqntid 128
{
	.reg .pred 	%p<9>;
	.reg .b16 	%rs<9>;
	.reg .b32 	%r<99>;
	.reg .b64 	%rd<9>;
	.loc	1 7 0
$L__func_begin0:
	ld.param.b64 	%rd1, [kernel_param_0];
	mov.u32 	%r1, %tid.x;
	mov.b32 	%r2, global_smem;
	.loc	1 12 24
	// begin inline asm
	mov.u32 %r3, 0x0;
	mov.u32 %r4, 0x0;
	@%p1 ld.global.v2.b32 { %r3, %r4 }, [ %rd1 + 0 ];
	// end inline asm
	// begin inline asm
	cp.async.cg.shared.global [ %r2 + 0 ], [ %rd1 + 0 ], 0x10, %r1;
	// end inline asm
	cp.async.commit_group;
	// begin inline asm
	@%p1 mbarrier.init.shared::cta.b64 [%r2], 1;
	// end inline asm
	// begin inline asm

	{
		.reg .pred complete;
		waitLoop:
		mbarrier.try_wait.parity.shared.b64 complete, [%r2], %r1;
		@!complete bra.uni waitLoop;
	}

	// end inline asm
	elect.sync 	%r5|%p2, -1;
	@%p2 cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%r2], [%rd1, {%r3, %r4}], [%r2];
	wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%r6,%r7,%r8,%r9}, %rd1, %rd2, %p1, 1, 1, 0, 0;
	ret;
}
)";

constexpr const char* kTvm = R"(
.visible .entry main_kernel(.param .u64 A, .param .align 64 .b8 map[128])
.maxntid 256, 1, 1
{
	.reg .pred %p<3>; .reg .b32 %r<9>; .reg .b64 %rd<9>;
	.shared .align 1024 .b8 buf_dyn_shmem[2048];
	mov.b64 %rd1, map;
	{ .reg .pred p; setp.ne.b32 p, %r1, 0; @p cp.async.ca.shared.global [%r2], [%rd2], 4; @!p st.shared.u32 [%r2], {0}; }
	{ .reg .b32 addr_int; { .reg .u64 addr_ptr; cvta.to.shared.u64 addr_ptr, %rd2; cvt.u32.u64 addr_int, addr_ptr; }
	ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r3, %r4, %r5, %r6}, [addr_int]; }
	lop3.b32 %r3, %r4, %r5, 0xf0, (0xf0 & 0xcc) | 0xaa;
	ret;
}
)";

class RoundTrip : public ::testing::TestWithParam<std::pair<const char*, const char*>> {};

TEST_P(RoundTrip, PrintedModuleParsesToAnEqualOne) {
  const Module module = parseOk(std::string(kHeader) + GetParam().second);
  const std::string text = print(module);
  const Module again = parseOk(text);
  EXPECT_EQ(test::difference(module, again), "") << text;
  EXPECT_EQ(print(again), text);
}

INSTANTIATE_TEST_SUITE_P(
    Dialects, RoundTrip,
    ::testing::Values(
        std::pair("Nvcc", kNvcc), std::pair("Clang", kClang), std::pair("Triton", kTriton),
        std::pair("Tvm", kTvm),
        std::pair("Tables",
                  ".func (.reg .u32 o) f(.reg .u32 a, .param .b8 z[4]) { ret; }\n"
                  ".entry k() { .reg .b64 %rd<3>; .reg .u32 x, y; .reg .v2 .f32 v;\n"
                  "tab: .branchtargets A, B; proto: .callprototype (.param .b32 _) _ (.param .b64 _);\n"
                  "{ .param .b32 r; .param .b64 p; call (r), %rd1, (p), proto; }\n"
                  "brx.idx x, tab;\nA: call.uni (y), f, (x, 4);\nB: ld.global.v2.f32 {v.x, _}, [%rd1]; }"),
        std::pair("Initialisers",
                  ".global .u64 x[2] = {generic(y)+8, 1};\n.const .f64 d = 0d3FF0000000000000;\n"
                  ".global .s16 y[3] = {-1, 2};\n.weak .global .align 4 .b8 e[4];\n.extern .const .u32 c;"),
        std::pair("Textures",
                  ".global .texref t;\n.entry k() { .reg .f32 %f<9>; .reg .pred %p<2>;\n"
                  "tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}|%p1, [t, {%f5, %f6}];\nret; }")),
    [](const auto& info) { return std::string(info.param.first); });

/// The only statement, printed alone.
std::string statement(const std::string& text) {
  const Module module = parseOk(test::kernel(
      ".reg .pred %p<8>;\n.reg .b32 %r<64>;\n.reg .b64 %rd<64>;\n.shared .b8 tile[64];\n" + text));
  return print(module, module.functions[0], module.functions[0].instructions[0]);
}

TEST(PrintInstruction, IsOneLineWithoutSemicolon) {
  EXPECT_EQ(statement("cp.async.wait_group 1;"), "cp.async.wait_group 1");
  EXPECT_EQ(statement("@!%p1   ld.shared.v2.b32 {%r1,%r2} ,[ tile + 8 ];"),
            "@!%p1 ld.shared.v2.b32 {%r1, %r2}, [tile+8]");
  EXPECT_EQ(statement("st.global.b32 [%rd1+-4], 0x10;"), "st.global.b32 [%rd1+-4], 16");
  EXPECT_EQ(statement("elect.sync _|%p1, -1;"), "elect.sync _|%p1, -1");
  EXPECT_EQ(statement("setp.eq.and.s32 %p1|%p2, %r1, 0, !%p3;"), "setp.eq.and.s32 %p1|%p2, %r1, 0, !%p3");
  EXPECT_EQ(statement("mov.u32 %r1, %cluster_ctaid.y;"), "mov.u32 %r1, %cluster_ctaid.y");
  EXPECT_EQ(statement("L: bra.uni L;"), "bra.uni L");
}

}  // namespace
}  // namespace handoff::ptx
