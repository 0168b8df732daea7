// SPDX-License-Identifier: Apache-2.0
// One tile of a row in shared memory, filled by cp.async.
#pragma once

#include <cstdint>
#include <cuda_runtime.h>

/// Starts the copy of this thread's float4.
__device__ inline void fetch(float4* slot, const float4* source) {
  const auto to = static_cast<std::uint32_t>(__cvta_generic_to_shared(slot));
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(source) : "memory");
}

__device__ inline void commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }

/// Waits until at most `pending` of this thread's groups are on their way.
template <int pending>
__device__ inline void await() {
  asm volatile("cp.async.wait_group %0;" ::"n"(pending) : "memory");
}
