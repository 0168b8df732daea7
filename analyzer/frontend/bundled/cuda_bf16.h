// SPDX-License-Identifier: Apache-2.0
// bfloat16: storage, conversions and the simplest arithmetic.
#pragma once
#include <cuda_runtime.h>
struct __align__(2) __nv_bfloat16 {
  unsigned short bits;
  __nv_bfloat16() = default;
  // To nearest, ties to even; not-a-number is not treated apart.
  __host__ __device__ __nv_bfloat16(float value)
      : bits((unsigned short)((__builtin_bit_cast(unsigned int, value) + 0x7fffU + ((__builtin_bit_cast(unsigned int, value) >> 16) & 1U)) >> 16)) {}
  __host__ __device__ operator float() const { return __builtin_bit_cast(float, (unsigned int)bits << 16); }
};
struct __align__(4) __nv_bfloat162 {
  __nv_bfloat16 x, y;
};
typedef __nv_bfloat16 nv_bfloat16;
typedef __nv_bfloat162 nv_bfloat162;
HANDOFF_BOTH float __bfloat162float(__nv_bfloat16 a) { return (float)a; }
HANDOFF_BOTH __nv_bfloat16 __float2bfloat16(float a) { return __nv_bfloat16(a); }
HANDOFF_BOTH __nv_bfloat16 __float2bfloat16_rn(float a) { return __nv_bfloat16(a); }
HANDOFF_BOTH float2 __bfloat1622float2(__nv_bfloat162 a) { return {(float)a.x, (float)a.y}; }
HANDOFF_BOTH __nv_bfloat162 __floats2bfloat162_rn(float a, float b) { return {__nv_bfloat16(a), __nv_bfloat16(b)}; }
