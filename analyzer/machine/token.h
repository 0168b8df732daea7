// SPDX-License-Identifier: Apache-2.0
// The opaque state that an mbarrier arrive returns: the phase it was made in, and the pending count before it.
#pragma once

#include <cstdint>

#include "analyzer/machine/mbarrier.h"

namespace handoff::machine {

constexpr std::uint64_t makeToken(Phase phase, std::uint32_t pending) {
  return (std::uint64_t{phase} << 32) | pending;
}
constexpr Phase phaseOf(std::uint64_t token) { return static_cast<Phase>(token >> 32); }
constexpr std::uint32_t pendingOf(std::uint64_t token) { return static_cast<std::uint32_t>(token); }

}  // namespace handoff::machine
