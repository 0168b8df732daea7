// SPDX-License-Identifier: Apache-2.0
// wgmma: asynchronous matrix products of a warpgroup, operands in shared memory, accumulators in registers
// (sm_90a).
//
// All four warps of a warpgroup execute each function, converged and with equal descriptors (PTX ISA,
// Asynchronous Warpgroup Level Matrix Multiply-Accumulate Instructions). The order of a step:
//   1. observe that the operands are in shared memory (an mbarrier wait of each warp; copies by TMA need no
//   proxy
//      fence, ordinary stores need one)
//   2. wgmmaFence      accumulators written by other instructions are handed to the matrix unit
//   3. wgmma...        any number
//   4. wgmmaCommit     closes the group
//   5. wgmmaWait<N>    at most N groups are left: the operands of older ones may be overwritten; with N = 0
//   the
//                      accumulators may be read
// Lane t of warp w holds, with g = 16w + t/4 and c = 2(t%4), in d[4i..4i+3] the elements D[g][8i+c],
// D[g][8i+c+1], D[g+8][8i+c], D[g+8][8i+c+1].
#pragma once

#include <cstdint>

namespace handoff::ptx {

/// Descriptor of a K-major tile of bf16 whose rows are 128 bytes, stored with the 128-byte swizzle that a
/// tensor map gives (PTX ISA, Matrix Descriptor Format). `tile` is a shared address; the pattern starts at a
/// multiple of 1024. The 16 columns from k on are at `tile` + 2k, k a multiple of 16 below 64.
__device__ __forceinline__ uint64_t wgmmaDescriptorSwizzle128(uint32_t tile) {
  constexpr uint64_t kBytesOfEightRows = 1024;  // stride from eight rows to the next eight
  constexpr uint64_t kSwizzle128 = uint64_t{1} << 62;
  constexpr uint64_t kUnusedLeadingOffset = uint64_t{1} << 16;
  return uint64_t{(tile & 0x3ffff) >> 4} | kUnusedLeadingOffset | (kBytesOfEightRows >> 4) << 32 |
         kSwizzle128;
}

/// Orders accesses of the warpgroup to its registers before the next wgmma (PTX ISA, wgmma.fence). No proxy
/// fence.
__device__ __forceinline__ void wgmmaFence() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }

/// Makes a group of all wgmma since the last commit (PTX ISA, wgmma.commit_group).
__device__ __forceinline__ void wgmmaCommit() {
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}

/// Waits until at most kPending of the newest groups are not complete (PTX ISA, wgmma.wait_group).
template <int kPending>
__device__ __forceinline__ void wgmmaWait() {
  static_assert(kPending >= 0 && kPending <= 7, "0 to 7 groups");
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(kPending) : "memory");
}

#define HANDOFF_ACCUMULATORS_8(d, i)                                                          \
  "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3]), "+f"(d[i + 4]), "+f"(d[i + 5]), \
      "+f"(d[i + 6]), "+f"(d[i + 7])
#define HANDOFF_ACCUMULATORS_32(d, i)                                                                \
  HANDOFF_ACCUMULATORS_8(d, i), HANDOFF_ACCUMULATORS_8(d, i + 8), HANDOFF_ACCUMULATORS_8(d, i + 16), \
      HANDOFF_ACCUMULATORS_8(d, i + 24)

/// Keeps the compiler from moving accesses to accumulators across this point; no instruction.
template <int kCount>
__device__ __forceinline__ void pinAccumulators(float (&d)[kCount]) {
#pragma unroll
  for (int i = 0; i < kCount; ++i) asm volatile("" : "+f"(d[i])::"memory");
}

/// d = a * b + (accumulate ? d : 0) for a 64x16 bf16 tile a and a 16x64 one b, both K-major in shared memory.
__device__ __forceinline__ void wgmmaM64K16Bf16(float (&d)[32], uint64_t a, uint64_t b, bool accumulate) {
  asm volatile(
      "{ .reg .pred p; setp.ne.b32 p, %34, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 {"
      "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
      "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}, "
      "%32, %33, p, 1, 1, 0, 0; }"
      : HANDOFF_ACCUMULATORS_32(d, 0)
      : "l"(a), "l"(b), "r"(static_cast<int>(accumulate))
      : "memory");
}

/// d = a * b + (accumulate ? d : 0) for a 64x16 bf16 tile a and a 16x128 one b, both K-major in shared
/// memory.
__device__ __forceinline__ void wgmmaM64K16Bf16(float (&d)[64], uint64_t a, uint64_t b, bool accumulate) {
  asm volatile(
      "{ .reg .pred p; setp.ne.b32 p, %66, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 {"
      "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
      "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "
      "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "
      "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63}, "
      "%64, %65, p, 1, 1, 0, 0; }"
      : HANDOFF_ACCUMULATORS_32(d, 0), HANDOFF_ACCUMULATORS_32(d, 32)
      : "l"(a), "l"(b), "r"(static_cast<int>(accumulate))
      : "memory");
}

/// d = a * b + (accumulate ? d : 0) for a 64x16 bf16 tile a and a 16x256 one b, both K-major in shared
/// memory.
__device__ __forceinline__ void wgmmaM64K16Bf16(float (&d)[128], uint64_t a, uint64_t b, bool accumulate) {
  asm volatile(
      "{ .reg .pred p; setp.ne.b32 p, %130, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n256k16.f32.bf16.bf16 {"
      "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
      "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "
      "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "
      "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63, "
      "%64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, "
      "%80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95, "
      "%96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111, "
      "%112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, %127}, "
      "%128, %129, p, 1, 1, 0, 0; }"
      : HANDOFF_ACCUMULATORS_32(d, 0), HANDOFF_ACCUMULATORS_32(d, 32), HANDOFF_ACCUMULATORS_32(d, 64),
        HANDOFF_ACCUMULATORS_32(d, 96)
      : "l"(a), "l"(b), "r"(static_cast<int>(accumulate))
      : "memory");
}

#undef HANDOFF_ACCUMULATORS_8
#undef HANDOFF_ACCUMULATORS_32

}  // namespace handoff::ptx
