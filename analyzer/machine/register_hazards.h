// SPDX-License-Identifier: Apache-2.0
// Registers of wgmma.mma_async touched where the manual leaves them to the tensor cores.
//
// PTX ISA: "wgmma.fence", "wgmma.mma_async", "wgmma.wait_group". Registers are no memory: this is a question of data
// flow over one function, whatever the launch.
//
// The PTX is a compiler's, in which a register is a name of a value. So:
//   - A move or a select renames: the copy of an accumulator in flight is in flight. Compilers place copies for "+f"
//     operands anywhere between the multiplication and the wait. Stores to and loads from the stack count as moves
//     whose value is not followed.
//   - A write starts another value; the one that was in the register is not touched. The compilers reuse the names of
//     accumulators and of A while the tensor cores still work on the old values.
//   - A constant may be placed behind the fence: there was no access to it in the source.
#pragma once

#include <cstdint>
#include <vector>

#include "analyzer/ptx/module.h"

namespace handoff::machine {

struct RegisterHazard {
  enum class Kind : std::uint8_t {
    kNoFence,       ///< no wgmma.fence between `access_instr` and the multiplication that uses its result
    kUseBeforeWait  ///< `access_instr` reads an accumulator that no wait_group of some path has made available
  };
  Kind kind{};
  std::uint32_t mma_instr = 0;  ///< the wgmma.mma_async, an index into Function::instructions
  /// What writes (kNoFence) or reads (kUseBeforeWait) the register; `mma_instr` itself when it is the first
  /// multiplication on a path without any fence. It may be another wgmma.mma_async.
  std::uint32_t access_instr = 0;
  friend bool operator==(const RegisterHazard&, const RegisterHazard&) = default;
};

/// In the order of `mma_instr`; of each kind at most one for each multiplication: of uses the first in the text, and of
/// multiplications that lack the same fence the first of a block.
/// `function` must have its calls inlined.
std::vector<RegisterHazard> findRegisterHazards(const ptx::Function& function);

/// False: the function has so many registers and blocks that findRegisterHazards leaves the question unanswered.
bool canFindRegisterHazards(const ptx::Function& function);

}  // namespace handoff::machine
