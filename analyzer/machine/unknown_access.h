// SPDX-License-Identifier: Apache-2.0
// Accesses to shared memory of which the machine does not know which bytes they touch, or whether they happen at all.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "analyzer/machine/data_terms.h"
#include "analyzer/machine/lanes.h"

namespace handoff::machine {

/// One warp instruction. A later access to any of the bytes has to be ordered after it, as if it had touched them; what
/// those bytes held before remains in the shadow, as if it had not.
struct UnknownAccess {
  std::uint32_t event = 0;
  LaneMask lanes = 0;
  bool reads = false, writes = false;
  std::uint32_t bytes = 0;
  symbolic::TermId address = 0;     ///< shared::cta; kConcrete: could not be followed
  symbolic::TermId condition = 0;   ///< under which it happens; kConcrete: none that is known
  std::array<Span, kWarpSize> spans{};
  std::uint64_t low = 0, high = 0;  ///< first of the bytes that any lane may touch, and the end of them
  std::uint64_t shape = 0;          ///< ShapeHasher's, of address and condition
  /// Cells from `low` on that another access has certainly overwritten since; empty: none.
  std::vector<bool> overwritten;

  DataQuestions::Question question(unsigned lane) const { return {address, condition, lane}; }
};

/// What it takes for two accesses to meet.
struct DataValue {
  std::uint32_t instr = 0;          ///< where the datum comes from
  std::uint64_t value = 0;
};

}  // namespace handoff::machine
