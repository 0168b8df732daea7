// SPDX-License-Identifier: Apache-2.0
// One operation on words.
#pragma once

#include <cstdint>

#include "analyzer/symbolic/term.h"

namespace handoff::symbolic {

/// The word as a 64-bit two's complement number.
constexpr std::uint64_t signExtended(std::uint64_t word, unsigned width) {
  const unsigned shift = 64 - width;
  return static_cast<std::uint64_t>(static_cast<std::int64_t>(word << shift) >> shift);
}

constexpr std::uint64_t signBit(unsigned width) { return 1ull << (width - 1); }

/// `op` on operands of `width` bits that are zero-extended; so is the result. No leaf, extension or choice.
std::uint64_t fold(TermOp op, unsigned width, std::uint64_t a, std::uint64_t b);

}  // namespace handoff::symbolic
