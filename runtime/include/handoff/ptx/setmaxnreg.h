// SPDX-License-Identifier: Apache-2.0
// setmaxnreg: moves registers between the warpgroups of a block (sm_90a).
//
// Each function is executed by all warps of a warpgroup, converged (PTX ISA, setmaxnreg). It orders no
// memory.
#pragma once

namespace handoff::ptx {

template <int kRegisters>
inline constexpr bool kIsRegisterCount = kRegisters >= 24 && kRegisters <= 256 && kRegisters % 8 == 0;

/// Gives registers back to the block's pool, down to kRegisters for each thread.
template <int kRegisters>
__device__ __forceinline__ void decreaseRegisters() {
  static_assert(kIsRegisterCount<kRegisters>, "24 to 256 in steps of 8");
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(kRegisters) : "memory");
}

/// Takes registers from the pool, up to kRegisters for each thread; blocks until other warpgroups gave back
/// enough. The counts of all warpgroups together must not exceed what the block was launched with.
template <int kRegisters>
__device__ __forceinline__ void increaseRegisters() {
  static_assert(kIsRegisterCount<kRegisters>, "24 to 256 in steps of 8");
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(kRegisters) : "memory");
}

}  // namespace handoff::ptx
