// SPDX-License-Identifier: Apache-2.0
// Whether the value of a racing read is ever used.
//
// Software pipelines load one step ahead; the load of the step that never comes races with whatever the memory is used
// for next, and its value is dropped. Such a read is no defect of the hand-over. The question is about data, which the
// protocol slice leaves out, so it is asked of the whole program, on the path that the run takes.
#pragma once

#include <cstdint>
#include <vector>

#include "analyzer/machine/launch.h"
#include "analyzer/machine/outcome.h"
#include "analyzer/machine/program.h"

namespace handoff::machine {

/// One execution of a shared-memory load.
struct ReadInstance {
  std::uint16_t warp = 0;
  std::uint32_t instr = 0;
  std::uint32_t pass = 0;   ///< as Event::pass
};

/// Loads to follow during a run, and what became of their values, by group.
struct ReadWatch {
  std::vector<ReadInstance> reads;
  std::vector<unsigned> bits;  ///< of each read
  std::uint64_t seen = 0, used = 0;
  std::vector<bool> chosen;      ///< by op: in a region whose branch a watched value decided
  bool is_complete = false;  ///< the run came to its end
};

/// For each group of reads: false only when the run ended and what any of them loaded went into registers and
/// nowhere else: into no store, no address, no condition, no other lane's hands.
std::vector<bool> usedReads(const Program& whole, const Launch& launch, const RunOptions& options,
                            const std::vector<std::vector<ReadInstance>>& groups);

}  // namespace handoff::machine
