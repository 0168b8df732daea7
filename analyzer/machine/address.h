// SPDX-License-Identifier: Apache-2.0
// The machine's address map. Real addresses are not known before a launch; the map only has to keep spaces and
// buffers apart and alignments honest.
#pragma once

#include <cstdint>

#include "analyzer/ptx/types.h"

namespace handoff::machine {

/// First byte of a CTA's shared memory inside the shared window. Not 0, so that a null pointer is never a tile; 1 KiB
/// because sm_90 reserves as much.
inline constexpr std::uint64_t kSharedBase = 0x400;
/// Tensor memory, a cell of which is a column's quarter: behind any shared memory.
inline constexpr std::uint64_t kTensorBase = 0x80'0000;
inline constexpr std::uint64_t kTensorCells = 512 * 4;
/// A shared::cluster address is ((rank + 1) << kClusterShift) | shared::cta address; rank 0xff.. never occurs.
inline constexpr unsigned kClusterShift = 24;

/// A shared address without the rank of its CTA.
constexpr std::uint64_t withinCta(std::uint64_t address) { return address & ((std::uint64_t{1} << kClusterShift) - 1); }
/// The shared::cluster address of a shared::cta address.
constexpr std::uint64_t inCluster(std::uint32_t rank, std::uint64_t address) {
  return ((std::uint64_t{rank} + 1) << kClusterShift) | withinCta(address);
}

/// Offset of a shared::cta address in the contents of its CTA's shared memory.
constexpr std::uint64_t sharedOffset(std::uint64_t address) { return address - kSharedBase; }

/// Windows of the generic address space; everything else is global memory.
inline constexpr std::uint64_t kSharedWindow = 0x7100'0000'0000;
inline constexpr std::uint64_t kLocalWindow = 0x7200'0000'0000;
inline constexpr std::uint64_t kParamWindow = 0x7300'0000'0000;
inline constexpr std::uint64_t kConstWindow = 0x7400'0000'0000;
/// Parameters of calls that stayed calls live on the stack; their .param addresses start here.
inline constexpr std::uint64_t kCallParamBase = 0x0100'0000;
inline constexpr std::uint64_t kWindowSize = 0x0100'0000'0000;

/// Every pointer parameter points to a buffer of its own: parameter buffer i starts at (i + 1) << kBufferShift, as
/// cudaMalloc would align it. Distinct pointers do not alias (docs/soundness.md, "Assumptions").
inline constexpr unsigned kBufferShift = 40;
inline constexpr std::uint64_t bufferBase(unsigned index) {
  return (std::uint64_t{index} + 1) << kBufferShift;
}
/// Module-scope .global variables lie in one buffer after those of the parameters.
inline constexpr unsigned kGlobalVariableBuffer = 0x60;

struct Location {
  ptx::Space space = ptx::Space::kGlobal;
  std::uint64_t offset = 0;  ///< the address within that space's own window
};

/// Space and in-window address of a generic address.
constexpr Location classify(std::uint64_t generic) {
  const auto within = [&](std::uint64_t window) { return generic >= window && generic < window + kWindowSize; };
  if (within(kSharedWindow)) return {ptx::Space::kShared, generic - kSharedWindow};
  if (within(kLocalWindow)) return {ptx::Space::kLocal, generic - kLocalWindow};
  if (within(kParamWindow)) return {ptx::Space::kParam, generic - kParamWindow};
  if (within(kConstWindow)) return {ptx::Space::kConst, generic - kConstWindow};
  return {ptx::Space::kGlobal, generic};
}

/// First generic address of a space's window; 0 for global memory.
constexpr std::uint64_t windowOf(ptx::Space space) {
  switch (space) {
    case ptx::Space::kShared:
    case ptx::Space::kSharedCluster: return kSharedWindow;
    case ptx::Space::kLocal: return kLocalWindow;
    case ptx::Space::kParam: return kParamWindow;
    case ptx::Space::kConst: return kConstWindow;
    default: return 0;
  }
}

}  // namespace handoff::machine
