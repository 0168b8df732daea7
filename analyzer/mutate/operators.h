// SPDX-License-Identifier: Apache-2.0
// Mutation operators: the small ways in which a protocol gets wrong, one row each.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string_view>
#include <vector>

#include "analyzer/diagnose/edit.h"
#include "analyzer/explore/statement.h"
#include "analyzer/machine/program.h"
#include "analyzer/ptx/cfg.h"

namespace handoff::mutate {

/// What operators look at. Instruction numbers are those of Program::function.
struct Subject {
  const machine::Program& program;
  const explore::Statements& statements;
  const ptx::Cfg& cfg;
  /// Bytes between the slots that a copy fills, by instruction; only copies that were seen to fill several.
  std::map<std::uint32_t, std::int64_t> slot_bytes{};

  const ptx::Instruction& at(std::uint32_t instr) const { return program.function.instructions[instr]; }
  std::uint32_t size() const { return static_cast<std::uint32_t>(program.function.instructions.size()); }
};

struct Operator {
  std::string_view name;     ///< "drop-wait"
  std::string_view summary;  ///< "a wait for copies is left out"
  /// Appends the changes of the statement at `instr`, which may be of any kind.
  void (*propose)(const Subject& subject, std::uint32_t instr, std::vector<diagnose::Edit>& edits);
};

std::span<const Operator> operators();

}  // namespace handoff::mutate
