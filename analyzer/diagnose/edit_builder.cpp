// SPDX-License-Identifier: Apache-2.0
// Places and changes.
#include "analyzer/diagnose/edit_builder.h"

#include <algorithm>
#include <bit>
#include <map>
#include <variant>

namespace handoff::diagnose {

using machine::EventKind;

namespace {

bool onlyComputes(const ptx::Effect& effect) {
  return std::holds_alternative<ptx::Alu>(effect) || std::holds_alternative<ptx::Opaque>(effect) ||
         std::holds_alternative<ptx::Hint>(effect) || std::holds_alternative<ptx::Collective>(effect);
}

bool isSame(const Change& a, const Change& b) {
  return a.kind == b.kind && a.at == b.at && a.to == b.to && a.opcode == b.opcode && a.operand == b.operand &&
         a.value == b.value && a.operands.size() == b.operands.size();
}

}  // namespace

std::string EditBuilder::lineOf(std::uint32_t at) const {
  const SourceStack& stack = run_.program.stackOf(at);
  return stack.empty() ? std::string() : "line " + std::to_string(stack.back().pos.line);
}

void EditBuilder::add(std::vector<Change> changes, std::string description) {
  const auto same = [&](const Edit& edit) {
    return std::equal(edit.changes.begin(), edit.changes.end(), changes.begin(), changes.end(), isSame);
  };
  if (std::any_of(edits_.begin(), edits_.end(), same)) return;
  const bool is_bold = std::any_of(changes.begin(), changes.end(), [](const Change& change) {
    return change.kind == Change::Kind::kDelete || change.kind == Change::Kind::kSetOperand ||
           change.kind == Change::Kind::kFlipOperand || change.kind == Change::Kind::kPhaseBit ||
           change.kind == Change::Kind::kWaitBefore || change.kind == Change::Kind::kWaitAfter;
  });
  edits_.push_back({std::move(changes), std::move(description), is_bold});
}

Change EditBuilder::at(Spot spot, std::string opcode, std::vector<ptx::Operand> operands) {
  Change change;
  change.kind = spot.is_behind ? Change::Kind::kInsertAfter : Change::Kind::kInsertBefore;
  change.at = spot.instr;
  change.opcode = std::move(opcode);
  change.operands = std::move(operands);
  return change;
}

std::vector<Change> EditBuilder::clusterSync(Spot spot) {
  return {at(spot, "barrier.cluster.arrive.aligned"), at(spot, "barrier.cluster.wait.aligned")};
}

Change EditBuilder::bulkWait(Spot spot, bool is_read) {
  return at(spot, is_read ? "cp.async.bulk.wait_group.read" : "cp.async.bulk.wait_group", {immediate(0)});
}

ptx::Operand EditBuilder::immediate(std::int64_t value) {
  ptx::Operand operand;
  operand.kind = ptx::Operand::Kind::kImmediate;
  operand.imm = value;
  return operand;
}

Change EditBuilder::ofKind(Change::Kind kind, std::uint32_t at, std::uint32_t operand, std::int64_t value) {
  Change change;
  change.kind = kind;
  change.at = at;
  change.operand = operand;
  change.value = value;
  return change;
}

Change EditBuilder::setOperand(std::uint32_t at, std::uint32_t operand, std::int64_t value) {
  return ofKind(Change::Kind::kSetOperand, at, operand, value);
}

Change EditBuilder::setOpcode(std::uint32_t at, std::string opcode) {
  Change change = ofKind(Change::Kind::kSetOpcode, at);
  change.opcode = std::move(opcode);
  return change;
}

Change EditBuilder::moveBehind(std::uint32_t at, std::uint32_t to) {
  Change change = ofKind(Change::Kind::kMoveAfter, at);
  change.to = to;
  return change;
}

Change EditBuilder::moveBefore(std::uint32_t at, std::uint32_t to) {
  Change change = ofKind(Change::Kind::kMoveBefore, at);
  change.to = to;
  return change;
}

std::string EditBuilder::without(std::string_view opcode, std::string_view part) { return replaced(opcode, part, ""); }

std::string EditBuilder::replaced(std::string_view opcode, std::string_view old, std::string_view part) {
  std::string text(opcode);
  const std::size_t found = text.find(old);
  if (found != std::string::npos) text.replace(found, old.size(), part);
  return text;
}

std::optional<std::int64_t> EditBuilder::constantOf(const ptx::Operand& operand) const {
  if (operand.kind == ptx::Operand::Kind::kImmediate) return operand.imm;
  if (operand.kind != ptx::Operand::Kind::kRegister) return std::nullopt;
  std::optional<std::int64_t> value;
  for (const ptx::Instruction& other : run_.program.function.instructions) {
    const unsigned count = ptx::destinationCount(*other.decoded, other.operands.size());
    for (unsigned d = 0; d < count; ++d) {
      const ptx::Operand& written = other.operands[d];
      if (written.kind != ptx::Operand::Kind::kRegister || written.reg != operand.reg) continue;
      const bool is_move = other.decoded->modifiers[0] == "mov" && !other.guard &&
                           other.operands.back().kind == ptx::Operand::Kind::kImmediate;
      if (value || !is_move) return std::nullopt;
      value = other.operands.back().imm;
    }
  }
  return value;
}

void EditBuilder::changeParity(std::uint32_t wait) {
  const ptx::Instruction& instr = instruction(wait);
  if (!instr.decoded->has("parity") || instr.operands.size() < 3) return;
  add({ofKind(Change::Kind::kFlipOperand, wait, 2)}, "wait for the other parity");
  if (const std::optional<std::int64_t> parity = constantOf(instr.operands[2])) {
    add({ofKind(Change::Kind::kPhaseBit, wait, 2, *parity)}, "keep a phase bit for the parity, and flip it after every wait");
    add({ofKind(Change::Kind::kPhaseBit, wait, 2, *parity ^ 1)},
        "keep a phase bit for the parity, and flip it after every wait; it starts at " + std::to_string(*parity ^ 1));
  }
}

void EditBuilder::retryPolls() {
  for (std::uint32_t i = 0; i < run_.program.function.instructions.size(); ++i) {
    const std::string_view opcode = instruction(i).opcode;
    const bool is_poll = opcode.starts_with("mbarrier.try_wait") || opcode.starts_with("mbarrier.test_wait");
    if (is_poll) add({ofKind(Change::Kind::kRetry, i)}, "repeat the poll of the mbarrier until it is true");
  }
}

std::vector<std::uint32_t> EditBuilder::branchesAround(std::uint32_t instr) const {
  std::vector<std::uint32_t> branches;
  for (std::uint32_t i = instr; i-- > 0;) {
    const ptx::Instruction& branch = instruction(i);
    if (!std::holds_alternative<ptx::Branch>(branch.decoded->effect) || !branch.guard || branch.operands.empty()) continue;
    const ptx::Operand& target = branch.operands[0];
    if (target.kind == ptx::Operand::Kind::kLabel && target.target > instr) branches.push_back(i);
  }
  return branches;
}

std::uint32_t EditBuilder::nextEffect(std::uint32_t from) const {
  const auto count = static_cast<std::uint32_t>(run_.program.function.instructions.size());
  while (from < count && onlyComputes(instruction(from).decoded->effect)) ++from;
  return std::min(from, count == 0 ? 0 : count - 1);
}

std::vector<Spot> EditBuilder::spotsBetween(std::uint32_t first, std::uint32_t second) const {
  constexpr std::size_t kMaxLevels = 3;
  std::vector<Spot> spots;
  const auto add = [&](Spot spot) {
    if (std::find(spots.begin(), spots.end(), spot) == spots.end()) spots.push_back(spot);
  };
  const std::vector<std::uint32_t> before = branchesAround(second), around = branchesAround(first);
  add({second, false});
  for (std::size_t i = 0; i < std::min(before.size(), kMaxLevels); ++i) add({before[i], false});
  for (std::size_t i = 0; i < std::min(around.size(), kMaxLevels); ++i) {
    add({nextEffect(instruction(around[i]).operands[0].target), false});
  }
  add({first, true});
  return spots;
}

void EditBuilder::synchronize(const std::vector<Spot>& spots, bool is_same_warp, bool is_cluster) {
  if (is_same_warp) {
    for (const Spot spot : spots) add({syncWarp(spot)}, "insert __syncwarp()");
  }
  if (!is_cluster) {
    for (const Spot spot : spots) add({barrier(spot)}, "insert __syncthreads()");
  }
  if (run_.launch.clusterSize() == 1) return;
  for (const Spot spot : spots) add(clusterSync(spot), "insert a barrier of the cluster (arrive and wait)");
}

std::vector<EditBuilder::Arrivals> EditBuilder::arrivals() const {
  std::map<std::uint32_t, std::map<std::uint16_t, machine::LaneMask>> lanes;
  const machine::EventLog& log = run_.outcome.log;
  for (machine::EventId id = 1; id < log.end(); ++id) {
    if (log[id].kind == EventKind::kMbarrierArrive || log[id].kind == EventKind::kCopyArrive) {
      lanes[instrOf(id)][log[id].warp] |= log[id].lanes;
    }
  }
  std::vector<Arrivals> result;
  for (const auto& [instr, by_warp] : lanes) {
    std::uint32_t threads = 0;
    for (const auto& [warp, mask] : by_warp) threads += static_cast<std::uint32_t>(std::popcount(mask));
    result.push_back({instr, threads});
  }
  return result;
}

}  // namespace handoff::diagnose
