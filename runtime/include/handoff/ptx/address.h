// SPDX-License-Identifier: Apache-2.0
// Addresses in shared memory as PTX operands want them: 32 bits in the shared::cta or shared::cluster window.
#pragma once

#include <cstdint>

namespace handoff::ptx {

/// The address of an object in the executing block's shared memory, as an offset into the shared::cta window.
/// It is also valid where a shared::cluster address is asked for: it then names this block's own memory.
/// PTX ISA, "State Spaces: Shared State Space".
__device__ __forceinline__ std::uint32_t sharedAddress(const void* shared) {
  return static_cast<std::uint32_t>(__cvta_generic_to_shared(shared));
}

}  // namespace handoff::ptx
