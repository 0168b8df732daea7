// SPDX-License-Identifier: Apache-2.0
// Which pointers a register may lead to: a data flow from the loads of parameters along what computes addresses.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>

#include "analyzer/machine/program.h"

namespace handoff::machine {

/// Where a pointer comes from: its place in the parameter window, or kVariables.
using PointerOrigin = std::uint64_t;
using PointerOrigins = std::set<PointerOrigin>;

class PointerFlow {
 public:
  /// Of the module's .global variables, which lie in one buffer.
  static constexpr PointerOrigin kVariables = ~0ull;
  /// Of a value that no parameter load and no arithmetic brought: it may be a pointer that lay in memory.
  static constexpr PointerOrigin kElsewhere = ~0ull - 1;

  explicit PointerFlow(const Program& program);

  /// Every 64-bit parameter counts, whether it is a pointer or not; empty: none is known to lead here.
  PointerOrigins of(const Arg& arg) const;
  /// Whether an operand that is a pointer makes the result an address as well.
  static bool isBase(const ptx::Alu& alu, std::size_t source);
  /// The parameter that a load reads.
  std::optional<PointerOrigin> parameterOf(const Op& op) const;
  std::optional<std::uint64_t> constantOf(Slot slot) const;

 private:
  void addOf(Slot slot, PointerOrigins& origins) const;
  bool follow(const Op& op);

  const Program& program_;
  std::map<Slot, PointerOrigins> origins_;
  std::map<Slot, std::uint64_t> constants_;  ///< a kernel keeps the address of a structure of parameters in a register
};

/// Sets Op::is_apart. A copy's buffer is one of the parameters that it may come from; distinct ones do not overlap
/// (docs/soundness.md, "Assumptions").
void markApart(Program& program);

/// Sets Program::null_checks.
void markNullChecks(Program& program);

}  // namespace handoff::machine
