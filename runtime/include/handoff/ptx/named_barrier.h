// SPDX-License-Identifier: Apache-2.0
// The sixteen barriers of a block. Barrier 0 is that of __syncthreads. sm_80.
//
// `threads` is the number of participating threads, a multiple of 32; all participants name the same number. All lanes
// of a warp execute the instruction together. None of them waits for copies in flight. PTX ISA, "bar".
#pragma once

#include <cstdint>

namespace handoff::ptx {

/// Arrives and waits for the others.
__device__ __forceinline__ void barSync(std::uint32_t id, std::uint32_t threads) {
  asm volatile("bar.sync %0, %1;" ::"r"(id), "r"(threads) : "memory");
}

/// Arrives without waiting: orders what came before for those who wait, and nothing for this thread.
__device__ __forceinline__ void barArrive(std::uint32_t id, std::uint32_t threads) {
  asm volatile("bar.arrive %0, %1;" ::"r"(id), "r"(threads) : "memory");
}

/// As barSync, with an id that the compiler knows, so that the block reserves no more barriers than it uses.
template <int kId>
__device__ __forceinline__ void barSync(std::uint32_t threads) {
  static_assert(kId >= 0 && kId < 16, "a block has barriers 0 to 15");
  asm volatile("bar.sync %0, %1;" ::"n"(kId), "r"(threads) : "memory");
}

/// As barArrive, with an id that the compiler knows.
template <int kId>
__device__ __forceinline__ void barArrive(std::uint32_t threads) {
  static_assert(kId >= 0 && kId < 16, "a block has barriers 0 to 15");
  asm volatile("bar.arrive %0, %1;" ::"n"(kId), "r"(threads) : "memory");
}

}  // namespace handoff::ptx
