// SPDX-License-Identifier: Apache-2.0
// Memory of the threads that run together.
#include "analyzer/explore/run_memory.h"

#include <cstdint>

namespace handoff::explore {

std::string whyTooLarge(const machine::Program& program, const machine::Launch& launch, unsigned max_memory_mb) {
  // Each local byte has a flag beside it.
  const std::uint64_t local_bytes = 2 * program.local_bytes * machine::kWarpSize;
  const std::uint64_t by_warp = program.register_count * sizeof(machine::Lanes) + local_bytes;
  const std::uint64_t needed_mb = (by_warp * launch.warps() * launch.clusterSize()) >> 20U;
  if (needed_mb <= max_memory_mb) return "";
  return "registers and local memory of its threads would take " + std::to_string(needed_mb) +
         " MiB here, more than --max-memory allows: nothing was run";
}

}  // namespace handoff::explore
