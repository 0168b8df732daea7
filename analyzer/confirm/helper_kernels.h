// SPDX-License-Identifier: Apache-2.0
// Kernels that fill memory, compare it, and leave junk in shared memory, as PTX: no compiler is needed on the
// GPU's machine.
#pragma once

namespace handoff::confirm {

inline constexpr const char* kHelperKernels = R"ptx(
.version 7.0
.target sm_80
.address_size 64

// Word i becomes a number made of i and the seed. mode 0: a float in [1, 2) of 7 random bits, also a pair of bfloat16 or of
// halves; sums of many of them are exact. 1: 0 to 3. 2: zero. 3: all bits.
.visible .entry handoff_fill(.param .u64 p_to, .param .u64 p_words, .param .u32 p_seed, .param .u32 p_mode)
{
	.reg .pred %p, %small, %zero, %noise;
	.reg .b32 %h, %g, %seed, %mode;
	.reg .b64 %i, %n, %step, %to, %at;
	.reg .b32 %a, %b;
	ld.param.u64 %to, [p_to];
	ld.param.u64 %n, [p_words];
	ld.param.u32 %seed, [p_seed];
	ld.param.u32 %mode, [p_mode];
	setp.eq.u32 %small, %mode, 1;
	setp.eq.u32 %zero, %mode, 2;
	setp.eq.u32 %noise, %mode, 3;
	mov.u32 %a, %ctaid.x;
	mov.u32 %b, %ntid.x;
	mov.u32 %h, %tid.x;
	mad.lo.u32 %a, %a, %b, %h;
	cvt.u64.u32 %i, %a;
	mov.u32 %a, %nctaid.x;
	mul.lo.u32 %a, %a, %b;
	cvt.u64.u32 %step, %a;
LOOP:
	setp.ge.u64 %p, %i, %n;
	@%p bra DONE;
	cvt.u32.u64 %h, %i;
	mul.lo.u32 %h, %h, 0x9E3779B9;
	add.u32 %h, %h, %seed;
	shr.u32 %g, %h, 16;
	xor.b32 %h, %h, %g;
	mul.lo.u32 %h, %h, 0x85EBCA6B;
	shr.u32 %g, %h, 13;
	xor.b32 %h, %h, %g;
	mul.lo.u32 %h, %h, 0xC2B2AE35;
	shr.u32 %g, %h, 16;
	xor.b32 %h, %h, %g;
	mov.b32 %a, %h;
	and.b32 %g, %h, 0x7F;
	shl.b32 %g, %g, 16;
	or.b32 %g, %g, 0x3F800000;
	and.b32 %h, %h, 3;
	selp.b32 %g, %h, %g, %small;
	selp.b32 %g, 0, %g, %zero;
	selp.b32 %g, %a, %g, %noise;
	shl.b64 %at, %i, 2;
	add.u64 %at, %at, %to;
	st.global.u32 [%at], %g;
	add.u64 %i, %i, %step;
	bra LOOP;
DONE:
	ret;
}

// result[0]: how many words differ; result[1]: the first of them.
.visible .entry handoff_compare(.param .u64 p_a, .param .u64 p_b, .param .u64 p_words, .param .u64 p_result)
{
	.reg .pred %p;
	.reg .b32 %x, %y, %t;
	.reg .b64 %i, %n, %step, %pa, %pb, %r, %at;
	.reg .b32 %u, %v;
	ld.param.u64 %pa, [p_a];
	ld.param.u64 %pb, [p_b];
	ld.param.u64 %n, [p_words];
	ld.param.u64 %r, [p_result];
	mov.u32 %u, %ctaid.x;
	mov.u32 %v, %ntid.x;
	mov.u32 %t, %tid.x;
	mad.lo.u32 %u, %u, %v, %t;
	cvt.u64.u32 %i, %u;
	mov.u32 %u, %nctaid.x;
	mul.lo.u32 %u, %u, %v;
	cvt.u64.u32 %step, %u;
LOOP:
	setp.ge.u64 %p, %i, %n;
	@%p bra DONE;
	shl.b64 %at, %i, 2;
	add.u64 %at, %at, %pa;
	ld.global.u32 %x, [%at];
	shl.b64 %at, %i, 2;
	add.u64 %at, %at, %pb;
	ld.global.u32 %y, [%at];
	setp.eq.u32 %p, %x, %y;
	@%p bra NEXT;
	cvt.u32.u64 %t, %i;
	red.global.add.u32 [%r], 1;
	red.global.min.u32 [%r+4], %t;
NEXT:
	add.u64 %i, %i, %step;
	bra LOOP;
DONE:
	ret;
}

// Every second launch leaves words with the top bit set: as an mbarrier that nobody initialised, they are in the other phase.
.extern .shared .align 16 .b8 handoff_dynamic[];

.visible .entry handoff_scrub(.param .u32 p_bytes, .param .u32 p_seed)
{
	.reg .pred %p;
	.reg .b32 %i, %n, %step, %h, %base, %sign;
	ld.param.u32 %n, [p_bytes];
	ld.param.u32 %h, [p_seed];
	and.b32 %sign, %h, 2;
	shl.b32 %sign, %sign, 30;
	mov.u32 %base, handoff_dynamic;
	mov.u32 %i, %tid.x;
	shl.b32 %i, %i, 2;
	mov.u32 %step, %ntid.x;
	shl.b32 %step, %step, 2;
LOOP:
	setp.ge.u32 %p, %i, %n;
	@%p bra DONE;
	mad.lo.u32 %h, %h, 0x19660D, 0x3C6EF35F;
	and.b32 %h, %h, 0x007FFFFF;
	or.b32 %h, %h, 0x3F800000;
	or.b32 %h, %h, %sign;
	add.u32 %base, %base, %i;
	st.shared.u32 [%base], %h;
	sub.u32 %base, %base, %i;
	add.u32 %i, %i, %step;
	bra LOOP;
DONE:
	ret;
}

// Fills shared memory, waits 10 us, and counts the words that have changed.
.visible .entry handoff_neighbour(.param .u32 p_bytes, .param .u32 p_seed, .param .u64 p_result)
{
	.reg .pred %p;
	.reg .b32 %i, %n, %step, %h, %g, %base, %at, %seed;
	.reg .b64 %from, %now, %r;
	ld.param.u32 %n, [p_bytes];
	ld.param.u32 %seed, [p_seed];
	ld.param.u64 %r, [p_result];
	mov.u32 %base, handoff_dynamic;
	mov.u32 %step, %ntid.x;
	shl.b32 %step, %step, 2;
	mov.u32 %i, %tid.x;
	shl.b32 %i, %i, 2;
STORE:
	setp.ge.u32 %p, %i, %n;
	@%p bra STORED;
	mad.lo.u32 %h, %i, 0x9E3779B9, %seed;
	add.u32 %at, %base, %i;
	st.shared.u32 [%at], %h;
	add.u32 %i, %i, %step;
	bra STORE;
STORED:
	bar.sync 0;
	mov.u64 %from, %clock64;
SPIN:
	mov.u64 %now, %clock64;
	sub.u64 %now, %now, %from;
	setp.lt.u64 %p, %now, 20000;
	@%p bra SPIN;
	mov.u32 %i, %tid.x;
	shl.b32 %i, %i, 2;
CHECK:
	setp.ge.u32 %p, %i, %n;
	@%p bra DONE;
	mad.lo.u32 %h, %i, 0x9E3779B9, %seed;
	add.u32 %at, %base, %i;
	ld.shared.u32 %g, [%at];
	add.u32 %i, %i, %step;
	setp.eq.u32 %p, %g, %h;
	@%p bra CHECK;
	red.global.add.u32 [%r], 1;
	bra CHECK;
DONE:
	ret;
}
)ptx";

}  // namespace handoff::confirm
