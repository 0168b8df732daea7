// SPDX-License-Identifier: Apache-2.0
// What candidate repairs are put together from: places in the program, and changes there.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/diagnose/diagnose.h"

namespace handoff::diagnose {

/// Where to add something: before or behind the statement of an instruction.
struct Spot {
  std::uint32_t instr = 0;
  bool is_behind = false;
  friend bool operator==(const Spot&, const Spot&) = default;
};

/// Collects candidates of one finding. A candidate that repeats an earlier one is dropped: each costs a run.
class EditBuilder {
 public:
  explicit EditBuilder(const Run& run) : run_(run) {}

  std::vector<Edit> take() { return std::move(edits_); }

  std::uint32_t instrOf(machine::EventId id) const { return run_.program.ops[run_.outcome.log[id].op].instr; }
  const ptx::Instruction& instruction(std::uint32_t at) const { return run_.program.function.instructions[at]; }
  bool opcodeHas(std::uint32_t at, std::string_view modifier) const { return instruction(at).decoded->has(modifier); }

  /// The source line of a statement, as "before line 41"; empty when it is not known.
  std::string lineOf(std::uint32_t at) const;

  void add(std::vector<Change> changes, std::string description);

  // Insertions, one at each place.
  static Change at(Spot spot, std::string opcode, std::vector<ptx::Operand> operands = {});
  static Change barrier(Spot spot) { return at(spot, "bar.sync", {immediate(0)}); }
  static Change syncWarp(Spot spot) { return at(spot, "bar.warp.sync", {immediate(0xffffffff)}); }
  static std::vector<Change> clusterSync(Spot spot);
  static Change waitAll(Spot spot) { return at(spot, "cp.async.wait_all"); }
  static Change bulkWait(Spot spot, bool is_read);
  static Change fence(Spot spot) { return at(spot, "fence.proxy.async"); }
  static ptx::Operand immediate(std::int64_t value);

  // Changes of an instruction that is there.
  static Change setOperand(std::uint32_t at, std::uint32_t operand, std::int64_t value);
  static Change ofKind(Change::Kind kind, std::uint32_t at, std::uint32_t operand = 0, std::int64_t value = 0);
  static Change setOpcode(std::uint32_t at, std::string opcode);
  static Change moveBehind(std::uint32_t at, std::uint32_t to);
  static Change moveBefore(std::uint32_t at, std::uint32_t to);
  /// `opcode` without ".part", or with ".part" in place of ".old".
  static std::string without(std::string_view opcode, std::string_view part);
  static std::string replaced(std::string_view opcode, std::string_view old, std::string_view part);

  /// The value of an operand that is an immediate, or a register that is set once, to an immediate.
  std::optional<std::int64_t> constantOf(const ptx::Operand& operand) const;
  /// Another parity for a wait, or a bit that keeps it.
  void changeParity(std::uint32_t wait);
  /// Polls whose answer may be ignored.
  void retryPolls();

  /// Branches that jump over an instruction, innermost first: where its threads part from the others.
  std::vector<std::uint32_t> branchesAround(std::uint32_t instr) const;
  /// The first instruction at or after `from` that does more than compute.
  std::uint32_t nextEffect(std::uint32_t from) const;

  /// Where a step could stand that comes after `first` and before `second`, likely ones first.
  std::vector<Spot> spotsBetween(std::uint32_t first, std::uint32_t second) const;
  /// A barrier of the warp, the block or the cluster at each of these.
  void synchronize(const std::vector<Spot>& spots, bool is_same_warp, bool is_cluster);

  /// Distinct threads that executed events of a kind, over all instructions, and for each of them.
  struct Arrivals {
    std::uint32_t instr = 0;
    std::uint32_t threads = 0;
  };
  std::vector<Arrivals> arrivals() const;

  const Run& run() const { return run_; }

 private:
  const Run& run_;
  std::vector<Edit> edits_;
};

}  // namespace handoff::diagnose
