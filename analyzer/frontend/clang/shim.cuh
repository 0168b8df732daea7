// SPDX-License-Identifier: Apache-2.0
// Included before the user's file: what nvcc gives without being asked and Clang's CUDA mode does not.
#pragma once
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#ifdef HANDOFF_WIDE_SHIM
#include <functional>
#include <tuple>
#include <utility>
#endif

// Host overloads of min and max (nvcc: crt/math_functions.hpp); Clang has the device's only.
#define HANDOFF_MIN_MAX(R, A, B)                                                              \
  static inline __host__ constexpr R max(A a, B b) { return (R)a > (R)b ? (R)a : (R)b; } \
  static inline __host__ constexpr R min(A a, B b) { return (R)a < (R)b ? (R)a : (R)b; }
HANDOFF_MIN_MAX(int, int, int)
HANDOFF_MIN_MAX(unsigned, unsigned, unsigned)
HANDOFF_MIN_MAX(unsigned, unsigned, int)
HANDOFF_MIN_MAX(unsigned, int, unsigned)
HANDOFF_MIN_MAX(long, long, long)
HANDOFF_MIN_MAX(unsigned long, unsigned long, unsigned long)
HANDOFF_MIN_MAX(unsigned long, unsigned long, long)
HANDOFF_MIN_MAX(unsigned long, long, unsigned long)
HANDOFF_MIN_MAX(long long, long long, long long)
HANDOFF_MIN_MAX(unsigned long long, unsigned long long, unsigned long long)
HANDOFF_MIN_MAX(unsigned long long, unsigned long long, long long)
HANDOFF_MIN_MAX(unsigned long long, long long, unsigned long long)
HANDOFF_MIN_MAX(float, float, float)
HANDOFF_MIN_MAX(double, double, double)
HANDOFF_MIN_MAX(double, double, float)
HANDOFF_MIN_MAX(double, float, double)
#undef HANDOFF_MIN_MAX

// nvcc's atomic builtins, CUDA 12.8 and later.
#ifndef __NV_ATOMIC_RELAXED
#define __NV_ATOMIC_RELAXED 0
#define __NV_ATOMIC_CONSUME 1
#define __NV_ATOMIC_ACQUIRE 2
#define __NV_ATOMIC_RELEASE 3
#define __NV_ATOMIC_ACQ_REL 4
#define __NV_ATOMIC_SEQ_CST 5
#define __NV_THREAD_SCOPE_THREAD __MEMORY_SCOPE_SINGLE
#define __NV_THREAD_SCOPE_BLOCK __MEMORY_SCOPE_WRKGRP
#define __NV_THREAD_SCOPE_CLUSTER __MEMORY_SCOPE_CLUSTR
#define __NV_THREAD_SCOPE_DEVICE __MEMORY_SCOPE_DEVICE
#define __NV_THREAD_SCOPE_SYSTEM __MEMORY_SCOPE_SYSTEM
#define HANDOFF_SCOPE(unused, scope, ...) scope
#define HANDOFF_SCOPE_OR_SYSTEM(...) HANDOFF_SCOPE(, ##__VA_ARGS__, __MEMORY_SCOPE_SYSTEM)
#define __nv_atomic_load_n(p, o, ...) __scoped_atomic_load_n(p, o, HANDOFF_SCOPE_OR_SYSTEM(__VA_ARGS__))
#define __nv_atomic_store_n(p, v, o, ...) __scoped_atomic_store_n(p, v, o, HANDOFF_SCOPE_OR_SYSTEM(__VA_ARGS__))
#define __nv_atomic_fetch_add(p, v, o, ...) __scoped_atomic_fetch_add(p, v, o, HANDOFF_SCOPE_OR_SYSTEM(__VA_ARGS__))
#define __nv_atomic_fetch_sub(p, v, o, ...) __scoped_atomic_fetch_sub(p, v, o, HANDOFF_SCOPE_OR_SYSTEM(__VA_ARGS__))
#define __nv_atomic_fetch_or(p, v, o, ...) __scoped_atomic_fetch_or(p, v, o, HANDOFF_SCOPE_OR_SYSTEM(__VA_ARGS__))
#define __nv_atomic_fetch_and(p, v, o, ...) __scoped_atomic_fetch_and(p, v, o, HANDOFF_SCOPE_OR_SYSTEM(__VA_ARGS__))
#define __nv_atomic_exchange_n(p, v, o, ...) __scoped_atomic_exchange_n(p, v, o, HANDOFF_SCOPE_OR_SYSTEM(__VA_ARGS__))
#endif

#if defined(__CUDA_ARCH__)
// Packed arithmetic of sm_100 and the cached loads that Clang's wrapper lacks. Data only: no protocol depends on them.
#define HANDOFF_PAIRWISE(N, OP) \
  static __device__ inline float2 N(float2 a, float2 b) { return {OP(a.x, b.x), OP(a.y, b.y)}; }
HANDOFF_PAIRWISE(__fadd2_rn, __fadd_rn)
HANDOFF_PAIRWISE(__fmul2_rn, __fmul_rn)
HANDOFF_PAIRWISE(__fadd2_rz, __fadd_rz)
HANDOFF_PAIRWISE(__fmul2_rz, __fmul_rz)
#undef HANDOFF_PAIRWISE
static __device__ inline float2 __ffma2_rn(float2 a, float2 b, float2 c) {
  return {__fmaf_rn(a.x, b.x, c.x), __fmaf_rn(a.y, b.y, c.y)};
}
static __device__ inline float2 __ffma2_rz(float2 a, float2 b, float2 c) {
  return {__fmaf_rz(a.x, b.x, c.x), __fmaf_rz(a.y, b.y, c.y)};
}
#define HANDOFF_LOAD(T)                                            \
  static __device__ inline T __ldca(const T* p) { return *p; } \
  static __device__ inline T __ldlu(const T* p) { return *p; }
HANDOFF_LOAD(char)
HANDOFF_LOAD(signed char)
HANDOFF_LOAD(unsigned char)
HANDOFF_LOAD(short)
HANDOFF_LOAD(unsigned short)
HANDOFF_LOAD(int)
HANDOFF_LOAD(unsigned)
HANDOFF_LOAD(long)
HANDOFF_LOAD(unsigned long)
HANDOFF_LOAD(long long)
HANDOFF_LOAD(unsigned long long)
HANDOFF_LOAD(float)
HANDOFF_LOAD(double)
#undef HANDOFF_LOAD
// The same for cached stores; its __stwt knows no "long", which is what uint64_t is.
template <typename T> struct HandoffSame { using type = T; };
#define HANDOFF_STORE(N) \
  template <typename T> static __device__ inline void N(T* p, typename HandoffSame<T>::type v) { *p = v; }
HANDOFF_STORE(__stwb)
HANDOFF_STORE(__stcg)
HANDOFF_STORE(__stcs)
static __device__ inline void __stwt(long* p, long v) { *p = v; }
static __device__ inline void __stwt(unsigned long* p, unsigned long v) { *p = v; }
#undef HANDOFF_STORE
#endif

// Attributes that Clang does not know on this target.
#undef __block_size__
#define __block_size__(...) __attribute__((annotate("handoff.block_size")))
#undef __managed__
#define __managed__ __attribute__((device))
