// SPDX-License-Identifier: Apache-2.0
// The part of CUDA C++ that small kernels use, for machines without a CUDA toolkit: enough to parse and to lower, never
// to run. What is missing here is an error with a position, not a guess.
#pragma once
#include <assert.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define __host__ __attribute__((host))
#define __device__ __attribute__((device))
#define __global__ __attribute__((global))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#define __managed__ __attribute__((device))
#define __grid_constant__ __attribute__((grid_constant))
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))
#define __cluster_dims__(...) __attribute__((cluster_dims(__VA_ARGS__)))
#define __forceinline__ __inline__ __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define __align__(n) __attribute__((aligned(n)))
#define CUDART_VERSION 13000
#define CUDA_VERSION 13000

#define HANDOFF_BOTH static inline __host__ __device__
#define HANDOFF_DEVICE static __device__ __forceinline__

// Vector types: sizes and alignments of the CUDA C++ Programming Guide, "Built-in Vector Types".
#define HANDOFF_VECTORS(T, NAME, A2, A4)                                                               \
  struct NAME##1 { T x; };                                                                             \
  struct __align__(A2) NAME##2 { T x, y; };                                                            \
  struct NAME##3 { T x, y, z; };                                                                       \
  struct __align__(A4) NAME##4 { T x, y, z, w; };                                                      \
  HANDOFF_BOTH NAME##1 make_##NAME##1(T x) { return {x}; }                                             \
  HANDOFF_BOTH NAME##2 make_##NAME##2(T x, T y) { return {x, y}; }                                     \
  HANDOFF_BOTH NAME##3 make_##NAME##3(T x, T y, T z) { return {x, y, z}; }                             \
  HANDOFF_BOTH NAME##4 make_##NAME##4(T x, T y, T z, T w) { return {x, y, z, w}; }
HANDOFF_VECTORS(signed char, char, 2, 4)
HANDOFF_VECTORS(unsigned char, uchar, 2, 4)
HANDOFF_VECTORS(short, short, 4, 8)
HANDOFF_VECTORS(unsigned short, ushort, 4, 8)
HANDOFF_VECTORS(int, int, 8, 16)
HANDOFF_VECTORS(unsigned int, uint, 8, 16)
HANDOFF_VECTORS(long, long, 16, 16)
HANDOFF_VECTORS(unsigned long, ulong, 16, 16)
HANDOFF_VECTORS(long long, longlong, 16, 16)
HANDOFF_VECTORS(unsigned long long, ulonglong, 16, 16)
HANDOFF_VECTORS(float, float, 8, 16)
HANDOFF_VECTORS(double, double, 16, 16)
#undef HANDOFF_VECTORS

struct dim3 {
  unsigned int x, y, z;
  constexpr __host__ __device__ dim3(unsigned int vx = 1, unsigned int vy = 1, unsigned int vz = 1) : x(vx), y(vy), z(vz) {}
  constexpr __host__ __device__ dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
  constexpr __host__ __device__ operator uint3() const { return {x, y, z}; }
};

#include <__clang_cuda_builtin_vars.h>
__device__ inline __cuda_builtin_threadIdx_t::operator uint3() const { return {x, y, z}; }
__device__ inline __cuda_builtin_threadIdx_t::operator dim3() const { return dim3(x, y, z); }
__device__ inline __cuda_builtin_blockIdx_t::operator uint3() const { return {x, y, z}; }
__device__ inline __cuda_builtin_blockIdx_t::operator dim3() const { return dim3(x, y, z); }
__device__ inline __cuda_builtin_blockDim_t::operator dim3() const { return dim3(x, y, z); }
__device__ inline __cuda_builtin_gridDim_t::operator dim3() const { return dim3(x, y, z); }

// Runtime API: declarations only.
enum cudaError { cudaSuccess = 0, cudaErrorInvalidValue = 1, cudaErrorUnknown = 999 };
typedef cudaError cudaError_t;
typedef struct CUstream_st* cudaStream_t;
typedef struct CUevent_st* cudaEvent_t;
enum cudaMemcpyKind { cudaMemcpyHostToHost, cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost, cudaMemcpyDeviceToDevice, cudaMemcpyDefault };
enum cudaFuncAttribute { cudaFuncAttributeMaxDynamicSharedMemorySize = 8, cudaFuncAttributePreferredSharedMemoryCarveout = 9,
                         cudaFuncAttributeNonPortableClusterSizeAllowed = 13 };
enum cudaLaunchAttributeID { cudaLaunchAttributeIgnore = 0, cudaLaunchAttributeCooperative = 2, cudaLaunchAttributeClusterDimension = 4,
                             cudaLaunchAttributeProgrammaticStreamSerialization = 6 };
union cudaLaunchAttributeValue {
  char pad[64];
  int cooperative;
  struct { unsigned int x, y, z; } clusterDim;
  int programmaticStreamSerializationAllowed;
};
typedef struct cudaLaunchAttribute_st {
  cudaLaunchAttributeID id;
  cudaLaunchAttributeValue val;
} cudaLaunchAttribute;
typedef struct cudaLaunchConfig_st {
  dim3 gridDim, blockDim;
  size_t dynamicSmemBytes;
  cudaStream_t stream;
  cudaLaunchAttribute* attrs;
  unsigned int numAttrs;
} cudaLaunchConfig_t;

extern "C" {
cudaError_t cudaMalloc(void** pointer, size_t bytes);
cudaError_t cudaMallocHost(void** pointer, size_t bytes);
cudaError_t cudaMallocManaged(void** pointer, size_t bytes, unsigned int flags = 1);
cudaError_t cudaFree(void* pointer);
cudaError_t cudaFreeHost(void* pointer);
cudaError_t cudaMemset(void* pointer, int value, size_t bytes);
cudaError_t cudaMemcpy(void* to, const void* from, size_t bytes, cudaMemcpyKind kind);
cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t bytes, cudaMemcpyKind kind, cudaStream_t stream = 0);
cudaError_t cudaDeviceSynchronize();
cudaError_t cudaGetLastError();
cudaError_t cudaPeekAtLastError();
const char* cudaGetErrorString(cudaError_t error);
cudaError_t cudaSetDevice(int device);
cudaError_t cudaGetDevice(int* device);
cudaError_t cudaStreamCreate(cudaStream_t* stream);
cudaError_t cudaStreamSynchronize(cudaStream_t stream);
cudaError_t cudaStreamDestroy(cudaStream_t stream);
cudaError_t cudaEventCreate(cudaEvent_t* event);
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream = 0);
cudaError_t cudaEventSynchronize(cudaEvent_t event);
cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t start, cudaEvent_t stop);
cudaError_t cudaEventDestroy(cudaEvent_t event);
cudaError_t cudaFuncSetAttribute(const void* kernel, cudaFuncAttribute attribute, int value);
cudaError_t cudaLaunchKernel(const void* kernel, dim3 grid, dim3 block, void** args, size_t shared = 0, cudaStream_t stream = 0);
cudaError_t cudaLaunchCooperativeKernel(const void* kernel, dim3 grid, dim3 block, void** args, size_t shared = 0, cudaStream_t stream = 0);
cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* config, const void* kernel, void** args);
// What "<<<>>>" calls; which of the two depends on the version of the toolkit, and here there is none.
enum cudaDriverEntryPointQueryResult { cudaDriverEntryPointSuccess = 0, cudaDriverEntryPointSymbolNotFound = 1 };
enum { cudaEnableDefault = 0 };
cudaError_t cudaGetDriverEntryPoint(const char* symbol, void** function, unsigned long long flags, cudaDriverEntryPointQueryResult* status = 0);
cudaError_t cudaGetDriverEntryPointByVersion(const char* symbol, void** function, unsigned int version, unsigned long long flags, cudaDriverEntryPointQueryResult* status = 0);
int cudaConfigureCall(dim3 grid, dim3 block, size_t shared = 0, cudaStream_t stream = 0);
unsigned int __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared = 0, cudaStream_t stream = 0);
__device__ int printf(const char* format, ...);
__device__ void __assert_fail(const char* text, const char* file, unsigned int line, const char* function) noexcept;
}
template <typename T>
cudaError_t cudaMalloc(T** pointer, size_t bytes) { return cudaMalloc((void**)(void*)pointer, bytes); }
template <typename T>
cudaError_t cudaMallocManaged(T** pointer, size_t bytes) { return cudaMallocManaged((void**)(void*)pointer, bytes); }
template <typename T>
cudaError_t cudaFuncSetAttribute(T* kernel, cudaFuncAttribute attribute, int value) {
  return cudaFuncSetAttribute((const void*)kernel, attribute, value);
}
template <typename... Parameters, typename... Arguments>
cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t* config, void (*kernel)(Parameters...), Arguments&&... arguments) {
  return [&](Parameters... values) {
    void* pointers[] = {&values..., nullptr};
    return cudaLaunchKernelExC(config, (const void*)kernel, pointers);
  }(static_cast<Arguments&&>(arguments)...);
}

// Synchronisation and warp functions. __syncthreads() is the compiler's own.
HANDOFF_DEVICE void __syncwarp(unsigned int mask = 0xffffffffU) { __nvvm_bar_warp_sync(mask); }
HANDOFF_DEVICE int __syncthreads_count(int p) { return __nvvm_bar0_popc(p); }
HANDOFF_DEVICE int __syncthreads_and(int p) { return __nvvm_bar0_and(p); }
HANDOFF_DEVICE int __syncthreads_or(int p) { return __nvvm_bar0_or(p); }
HANDOFF_DEVICE void __threadfence_block() { __nvvm_membar_cta(); }
HANDOFF_DEVICE void __threadfence() { __nvvm_membar_gl(); }
HANDOFF_DEVICE void __threadfence_system() { __nvvm_membar_sys(); }
HANDOFF_DEVICE void __nanosleep(unsigned int ns) { asm volatile("nanosleep.u32 %0;" ::"r"(ns)); }
HANDOFF_DEVICE int __any_sync(unsigned int mask, int p) { return __nvvm_vote_any_sync(mask, p != 0); }
HANDOFF_DEVICE int __all_sync(unsigned int mask, int p) { return __nvvm_vote_all_sync(mask, p != 0); }
HANDOFF_DEVICE unsigned int __ballot_sync(unsigned int mask, int p) { return __nvvm_vote_ballot_sync(mask, p != 0); }
HANDOFF_DEVICE unsigned int __activemask() {
  unsigned int mask;
  asm volatile("activemask.b32 %0;" : "=r"(mask));
  return mask;
}
#define HANDOFF_SHUFFLE(NAME, BUILTIN, CONTROL)                                                                      \
  HANDOFF_DEVICE int NAME(unsigned int mask, int value, int lane, int width = 32) {                                  \
    return __nvvm_shfl_sync_##BUILTIN##_i32(mask, value, lane, ((32 - width) << 8) | CONTROL);                       \
  }                                                                                                                  \
  HANDOFF_DEVICE unsigned int NAME(unsigned int mask, unsigned int value, int lane, int width = 32) {                \
    return (unsigned int)NAME(mask, (int)value, lane, width);                                                        \
  }                                                                                                                  \
  HANDOFF_DEVICE float NAME(unsigned int mask, float value, int lane, int width = 32) {                              \
    return __nvvm_shfl_sync_##BUILTIN##_f32(mask, value, lane, ((32 - width) << 8) | CONTROL);                       \
  }
HANDOFF_SHUFFLE(__shfl_sync, idx, 31)
HANDOFF_SHUFFLE(__shfl_up_sync, up, 0)
HANDOFF_SHUFFLE(__shfl_down_sync, down, 31)
HANDOFF_SHUFFLE(__shfl_xor_sync, bfly, 31)
#undef HANDOFF_SHUFFLE

HANDOFF_DEVICE size_t __cvta_generic_to_shared(const void* p) { return (size_t)(const __attribute__((address_space(3))) void*)p; }
HANDOFF_DEVICE size_t __cvta_generic_to_global(const void* p) { return (size_t)(const __attribute__((address_space(1))) void*)p; }
HANDOFF_DEVICE void* __cvta_shared_to_generic(size_t p) { return (void*)(__attribute__((address_space(3))) void*)p; }
template <typename T>
HANDOFF_DEVICE T __ldg(const T* p) { return *p; }

// Atomics that kernels use to add up or to hand over.
#define HANDOFF_ATOMIC(T)                                                                                                        \
  HANDOFF_DEVICE T atomicAdd(T* p, T v) { return __scoped_atomic_fetch_add(p, v, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE); }
HANDOFF_ATOMIC(int)
HANDOFF_ATOMIC(unsigned int)
HANDOFF_ATOMIC(unsigned long long)
HANDOFF_ATOMIC(float)
HANDOFF_ATOMIC(double)
#undef HANDOFF_ATOMIC
#define HANDOFF_ATOMIC(T)                                                                                                        \
  HANDOFF_DEVICE T atomicSub(T* p, T v) { return __scoped_atomic_fetch_sub(p, v, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE); }     \
  HANDOFF_DEVICE T atomicMin(T* p, T v) { return __scoped_atomic_fetch_min(p, v, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE); }     \
  HANDOFF_DEVICE T atomicMax(T* p, T v) { return __scoped_atomic_fetch_max(p, v, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE); }     \
  HANDOFF_DEVICE T atomicOr(T* p, T v) { return __scoped_atomic_fetch_or(p, v, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE); }       \
  HANDOFF_DEVICE T atomicAnd(T* p, T v) { return __scoped_atomic_fetch_and(p, v, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE); }     \
  HANDOFF_DEVICE T atomicExch(T* p, T v) { return __scoped_atomic_exchange_n(p, v, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE); }   \
  HANDOFF_DEVICE T atomicCAS(T* p, T old, T v) {                                                                                 \
    __scoped_atomic_compare_exchange_n(p, &old, v, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE);            \
    return old;                                                                                                                  \
  }
HANDOFF_ATOMIC(int)
HANDOFF_ATOMIC(unsigned int)
HANDOFF_ATOMIC(unsigned long long)
#undef HANDOFF_ATOMIC

// Arithmetic. Results are data, so approximations are good enough; nothing here orders or addresses memory.
#define HANDOFF_MIN_MAX(T)                                       \
  HANDOFF_BOTH constexpr T min(T a, T b) { return a < b ? a : b; } \
  HANDOFF_BOTH constexpr T max(T a, T b) { return a > b ? a : b; }
HANDOFF_MIN_MAX(int)
HANDOFF_MIN_MAX(unsigned int)
HANDOFF_MIN_MAX(long)
HANDOFF_MIN_MAX(unsigned long)
HANDOFF_MIN_MAX(long long)
HANDOFF_MIN_MAX(unsigned long long)
HANDOFF_MIN_MAX(float)
HANDOFF_MIN_MAX(double)
#undef HANDOFF_MIN_MAX
HANDOFF_DEVICE float fmaf(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
HANDOFF_DEVICE float fabsf(float a) { return __builtin_fabsf(a); }
HANDOFF_DEVICE float fminf(float a, float b) { return __builtin_fminf(a, b); }
HANDOFF_DEVICE float fmaxf(float a, float b) { return __builtin_fmaxf(a, b); }
HANDOFF_DEVICE float sqrtf(float a) { return __nvvm_sqrt_rn_f(a); }
HANDOFF_DEVICE float rsqrtf(float a) { return __nvvm_rsqrt_approx_f(a); }
HANDOFF_DEVICE float exp2f(float a) { return __nvvm_ex2_approx_f(a); }
HANDOFF_DEVICE float expf(float a) { return __nvvm_ex2_approx_f(a * 1.4426950408889634f); }
HANDOFF_DEVICE float __expf(float a) { return expf(a); }
HANDOFF_DEVICE float __fmaf_rn(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
HANDOFF_DEVICE float __fadd_rn(float a, float b) { return a + b; }
HANDOFF_DEVICE float __fmul_rn(float a, float b) { return a * b; }
HANDOFF_DEVICE int __float_as_int(float a) { return __builtin_bit_cast(int, a); }
HANDOFF_DEVICE unsigned int __float_as_uint(float a) { return __builtin_bit_cast(unsigned int, a); }
HANDOFF_DEVICE float __int_as_float(int a) { return __builtin_bit_cast(float, a); }
HANDOFF_DEVICE float __uint_as_float(unsigned int a) { return __builtin_bit_cast(float, a); }
HANDOFF_DEVICE int __popc(unsigned int a) { return __builtin_popcount(a); }
HANDOFF_DEVICE int __clz(int a) { return a == 0 ? 32 : __builtin_clz((unsigned int)a); }
HANDOFF_DEVICE int __ffs(int a) { return __builtin_ffs(a); }
HANDOFF_DEVICE long long clock64() { return (long long)__nvvm_read_ptx_sreg_clock64(); }
HANDOFF_DEVICE int clock() { return __nvvm_read_ptx_sreg_clock(); }
HANDOFF_DEVICE void __trap() { asm volatile("trap;"); }
