// SPDX-License-Identifier: Apache-2.0
// Half precision: storage, conversions and the simplest arithmetic.
#pragma once
#include <cuda_runtime.h>
struct __align__(2) __half {
  unsigned short bits;
  __half() = default;
  __host__ __device__ __half(float value) : bits(__builtin_bit_cast(unsigned short, (_Float16)value)) {}
  __host__ __device__ operator float() const { return (float)__builtin_bit_cast(_Float16, bits); }
};
struct __align__(4) __half2 {
  __half x, y;
};
typedef __half half;
typedef __half2 half2;
HANDOFF_BOTH float __half2float(__half a) { return (float)a; }
HANDOFF_BOTH __half __float2half(float a) { return __half(a); }
HANDOFF_BOTH __half __float2half_rn(float a) { return __half(a); }
HANDOFF_BOTH float2 __half22float2(__half2 a) { return {(float)a.x, (float)a.y}; }
HANDOFF_BOTH __half2 __floats2half2_rn(float a, float b) { return {__half(a), __half(b)}; }
HANDOFF_BOTH __half2 __float22half2_rn(float2 a) { return {__half(a.x), __half(a.y)}; }
HANDOFF_BOTH __half __hadd(__half a, __half b) { return __half((float)a + (float)b); }
HANDOFF_BOTH __half __hmul(__half a, __half b) { return __half((float)a * (float)b); }
