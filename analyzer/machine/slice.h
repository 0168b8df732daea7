// SPDX-License-Identifier: Apache-2.0
// The protocol slice: which instructions can matter to a copy, a barrier, an address or a branch.
#pragma once

#include <cstdint>
#include <set>
#include <vector>

#include "analyzer/ptx/module.h"

namespace handoff::machine {

struct Slice {
  std::vector<bool> is_executed;        ///< by instruction
  std::vector<bool> is_register_needed; ///< by RegId
  bool needs_shared_contents = false;   ///< a value loaded from shared memory is itself needed
  bool needs_local_contents = false;
  bool depends_on_block = false;        ///< %ctaid reaches more than global addresses
  bool addresses_depend_on_block = false;
  bool has_async_copies = false;
};

/// A slice that leaves nothing out.
Slice wholeFunction(const ptx::Function& function);

/// `function` must have its calls inlined. Flow-insensitive: a register needed anywhere is needed everywhere. `input_words`:
/// loads from global memory whose addresses are needed, too.
Slice computeSlice(const ptx::Function& function, const std::set<std::uint32_t>& input_words = {});

/// True for effects that touch what the machine tracks (shared memory, copies, barriers, control flow), not only
/// registers. Global loads are not among them: their data is unknown to the machine anyway.
bool hasProtocolEffect(const ptx::Instruction& instruction);

}  // namespace handoff::machine
