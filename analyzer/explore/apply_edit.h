// SPDX-License-Identifier: Apache-2.0
// Edits carried out on the PTX.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "analyzer/diagnose/edit.h"
#include "analyzer/explore/statement.h"

namespace handoff::explore {

struct Edited {
  static constexpr std::uint32_t kInserted = 0xffffffffu;
  ptx::Function function;
  std::vector<std::uint32_t> origin;  ///< by new instruction: which one it was, or kInserted
};

/// The program's function with the edit applied to every copy of its statements. Empty when the edit does not fit the
/// program: an operand that is not there, a move between statements of different numbers of copies.
///
/// Branch targets stay right. A jump to the place before which something is inserted runs the insertion, except from
/// within the statement itself: the loop of a wait stays a loop of the wait alone.
std::optional<Edited> applyEdit(const machine::Program& program, const Statements& statements, const diagnose::Edit& edit);

}  // namespace handoff::explore
