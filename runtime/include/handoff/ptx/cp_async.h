// SPDX-License-Identifier: Apache-2.0
// cp.async and its copy groups, one function for each form of the instruction. sm_80 and later.
//
// Destinations are shared::cta addresses (ptx::sharedAddress), sources are global. Both have to be aligned to the
// size of the copy, which is 4, 8 or 16 bytes. PTX ISA, "cp.async".
#pragma once

#include <cstdint>

#include "handoff/ptx/address.h"

namespace handoff::ptx {

namespace detail {
template <int kBytes>
inline constexpr bool is_copy_size = kBytes == 4 || kBytes == 8 || kBytes == 16;
}  // namespace detail

/// Copies kBytes. The one of 16 bytes goes past L1 (.cg), the others are cached in it (.ca): .cg has no other size.
template <int kBytes>
__device__ __forceinline__ void cpAsync(std::uint32_t dst, const void* src) {
  static_assert(detail::is_copy_size<kBytes>, "cp.async copies 4, 8 or 16 bytes");
  if constexpr (kBytes == 16) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(dst), "l"(src) : "memory");
  } else {
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(dst), "l"(src), "n"(kBytes) : "memory");
  }
}

/// As cpAsync, but only where `condition` holds. Where it does not, nothing is copied and nothing joins the group:
/// the destination keeps what it held. PTX ISA, "Predicated Execution".
template <int kBytes>
__device__ __forceinline__ void cpAsyncIf(std::uint32_t dst, const void* src, bool condition) {
  static_assert(detail::is_copy_size<kBytes>, "cp.async copies 4, 8 or 16 bytes");
  if constexpr (kBytes == 16) {
    asm volatile(
        "{\n\t.reg .pred p;\n\t"
        "setp.ne.b32 p, %2, 0;\n\t"
        "@p cp.async.cg.shared.global [%0], [%1], 16;\n\t}" ::"r"(dst),
        "l"(src), "r"(static_cast<int>(condition))
        : "memory");
  } else {
    asm volatile(
        "{\n\t.reg .pred p;\n\t"
        "setp.ne.b32 p, %2, 0;\n\t"
        "@p cp.async.ca.shared.global [%0], [%1], %3;\n\t}" ::"r"(dst),
        "l"(src), "r"(static_cast<int>(condition)), "n"(kBytes)
        : "memory");
  }
}

/// Reads the first `src_bytes` (at most kBytes) of the source and fills the rest of the kBytes with zeros. All of the
/// destination is written asynchronously, the zeros included.
template <int kBytes>
__device__ __forceinline__ void cpAsyncSrcSize(std::uint32_t dst, const void* src, std::uint32_t src_bytes) {
  static_assert(detail::is_copy_size<kBytes>, "cp.async copies 4, 8 or 16 bytes");
  if constexpr (kBytes == 16) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(dst), "l"(src), "r"(src_bytes) : "memory");
  } else {
    asm volatile("cp.async.ca.shared.global [%0], [%1], %3, %2;" ::"r"(dst), "l"(src), "r"(src_bytes), "n"(kBytes)
                 : "memory");
  }
}

/// Where `ignore` holds, the source is not read and all kBytes become zero. PTX ISA, "cp.async", operand ignore-src.
template <int kBytes>
__device__ __forceinline__ void cpAsyncIgnoreSrc(std::uint32_t dst, const void* src, bool ignore) {
  static_assert(detail::is_copy_size<kBytes>, "cp.async copies 4, 8 or 16 bytes");
  if constexpr (kBytes == 16) {
    asm volatile(
        "{\n\t.reg .pred p;\n\t"
        "setp.ne.b32 p, %2, 0;\n\t"
        "cp.async.cg.shared.global [%0], [%1], 16, p;\n\t}" ::"r"(dst),
        "l"(src), "r"(static_cast<int>(ignore))
        : "memory");
  } else {
    asm volatile(
        "{\n\t.reg .pred p;\n\t"
        "setp.ne.b32 p, %2, 0;\n\t"
        "cp.async.ca.shared.global [%0], [%1], %3, p;\n\t}" ::"r"(dst),
        "l"(src), "r"(static_cast<int>(ignore)), "n"(kBytes)
        : "memory");
  }
}

/// Makes a group of all copies of this thread that are in none yet; an empty group is legal and counts.
/// PTX ISA, "cp.async.commit_group".
__device__ __forceinline__ void cpAsyncCommit() { asm volatile("cp.async.commit_group;" ::: "memory"); }

/// Waits until at most kPending of this thread's newest groups are unfinished. Copies that were never committed are
/// not waited for. PTX ISA, "cp.async.wait_group".
template <int kPending>
__device__ __forceinline__ void cpAsyncWait() {
  static_assert(kPending >= 0, "a number of groups");
  asm volatile("cp.async.wait_group %0;" ::"n"(kPending) : "memory");
}

/// Waits for all copies of this thread, committed or not. PTX ISA, "cp.async.wait_all".
__device__ __forceinline__ void cpAsyncWaitAll() { asm volatile("cp.async.wait_all;" ::: "memory"); }

/// Arrives at an mbarrier of this block when all copies that this thread has issued so far are over. The arrival takes
/// one of the counted ones: the barrier's count has to include it. PTX ISA, "cp.async.mbarrier.arrive", .noinc.
__device__ __forceinline__ void cpAsyncMbarrierArriveNoinc(std::uint32_t barrier) {
  asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" ::"r"(barrier) : "memory");
}

/// The same, but the pending count is raised first, so that the arrival is not one of the counted ones.
__device__ __forceinline__ void cpAsyncMbarrierArrive(std::uint32_t barrier) {
  asm volatile("cp.async.mbarrier.arrive.shared.b64 [%0];" ::"r"(barrier) : "memory");
}

}  // namespace handoff::ptx
