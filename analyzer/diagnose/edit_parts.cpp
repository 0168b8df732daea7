// SPDX-License-Identifier: Apache-2.0
// The candidates behind edit_parts.h.
#include "analyzer/diagnose/edit_parts.h"

#include <algorithm>
#include <bit>
#include <set>
#include <variant>

namespace handoff::diagnose {

using machine::EventId;
using machine::EventKind;

namespace {

std::uint32_t countOf(const EditBuilder& build) {
  return static_cast<std::uint32_t>(build.run().program.function.instructions.size());
}

/// The last address among the operands: of an arrival its barrier, of a bulk copy to shared memory the mbarrier.
std::optional<std::uint32_t> barrierOperand(const ptx::Instruction& instruction) {
  for (std::size_t i = instruction.operands.size(); i-- > 0;) {
    if (instruction.operands[i].kind == ptx::Operand::Kind::kAddress) return static_cast<std::uint32_t>(i);
  }
  return std::nullopt;
}

bool isPoll(const ptx::Instruction& instruction) {
  const bool is_wait = instruction.opcode.starts_with("mbarrier.try_wait") || instruction.opcode.starts_with("mbarrier.test_wait");
  return is_wait && instruction.decoded->has("parity");
}

/// Arrivals of an ordinary thread: no bytes, no copies.
bool isSignal(const ptx::Instruction& instruction) {
  return instruction.opcode.starts_with("mbarrier.arrive.") && !instruction.decoded->has("expect_tx");
}

std::set<std::uint32_t> executed(const EditBuilder& build) {
  std::set<std::uint32_t> found;
  for (EventId id = 1; id < build.run().outcome.log.end(); ++id) found.insert(build.instrOf(id));
  return found;
}

/// Branches to the end of the kernel.
std::vector<std::uint32_t> leavingBranches(const EditBuilder& build) {
  std::vector<std::uint32_t> found;
  for (std::uint32_t i = 0; i < countOf(build); ++i) {
    const ptx::Instruction& branch = build.instruction(i);
    const bool is_branch = std::holds_alternative<ptx::Branch>(branch.decoded->effect) && branch.guard && !branch.operands.empty() &&
                           branch.operands[0].kind == ptx::Operand::Kind::kLabel;
    if (!is_branch) continue;
    const std::uint32_t end = build.nextEffect(branch.operands[0].target);
    if (std::holds_alternative<ptx::Return>(build.instruction(end).decoded->effect)) found.push_back(i);
  }
  return found;
}

/// The instruction that computes the base of an address, when it is the only one to do so.
std::optional<std::uint32_t> definitionOf(const EditBuilder& build, const ptx::Operand& address) {
  const bool has_register = address.kind == ptx::Operand::Kind::kAddress && address.base == ptx::Operand::Base::kRegister;
  if (!has_register) return std::nullopt;
  std::optional<std::uint32_t> found;
  for (std::uint32_t i = 0; i < countOf(build); ++i) {
    const ptx::Instruction& instruction = build.instruction(i);
    if (ptx::destinationCount(*instruction.decoded, instruction.operands.size()) == 0) continue;
    const ptx::Operand& written = instruction.operands[0];
    if (written.kind != ptx::Operand::Kind::kRegister || written.reg != address.reg) continue;
    if (found) return std::nullopt;
    found = i;
  }
  return found;
}

/// The mapa that an address comes from.
std::optional<std::uint32_t> mapOf(const EditBuilder& build, const ptx::Operand& address) {
  const std::optional<std::uint32_t> found = definitionOf(build, address);
  const bool is_map = found && build.instruction(*found).opcode.starts_with("mapa") && build.instruction(*found).operands.size() == 3;
  return is_map ? found : std::nullopt;
}

// Destination and mbarrier belong into one CTA.
void mapLikeOther(EditBuilder& build, std::uint32_t at) {
  const ptx::Instruction& copy = build.instruction(at);
  const std::optional<std::uint32_t> barrier = barrierOperand(copy);
  if (!barrier || *barrier == 0) return;
  for (const auto& [operand, other] : {std::pair(*barrier, 0u), std::pair(0u, *barrier)}) {
    const std::optional<std::uint32_t> map = mapOf(build, copy.operands[other]);
    const std::optional<std::uint32_t> own = mapOf(build, copy.operands[operand]);
    const auto rankOf = [&](std::uint32_t mapa) { return build.instruction(mapa).operands[2]; };
    const auto isSame = [](const ptx::Operand& a, const ptx::Operand& b) { return a.kind == b.kind && a.reg == b.reg && a.imm == b.imm; };
    if (!map || (own && isSame(rankOf(*own), rankOf(*map)))) continue;
    Change change = EditBuilder::ofKind(Change::Kind::kMapOperand, at, operand);
    change.to = *map;
    build.add({change}, operand == 0 ? "map the destination to the CTA of the mbarrier" : "map the mbarrier to the CTA of the destination");
  }
}

}  // namespace

void addAlignmentEdits(EditBuilder& build, const machine::Misuse& misuse, std::uint32_t at) {
  const ptx::Instruction& copy = build.instruction(at);
  const bool is_plain = copy.opcode.starts_with("cp.async.ca.") || copy.opcode.starts_with("cp.async.cg.");
  if (is_plain && misuse.kind != machine::Misuse::Kind::kBadBulkSize) {
    for (const std::uint64_t piece : {std::uint64_t{8}, std::uint64_t{4}}) {
      if (misuse.address % piece != 0 || copy.operands.size() < 3) continue;
      const std::optional<std::int64_t> bytes = build.constantOf(copy.operands[2]);
      if (!bytes || *bytes <= static_cast<std::int64_t>(piece)) continue;
      build.add({EditBuilder::ofKind(Change::Kind::kSplitCopy, at, 2, static_cast<std::int64_t>(piece))},
                "copy in pieces of " + std::to_string(piece) + " bytes, which need no more alignment than that: cp.async.ca");
    }
  }
  constexpr std::uint64_t kGranule = 16;
  if (misuse.kind != machine::Misuse::Kind::kBadBulkSize || misuse.value == 0 || copy.operands.size() < 3) return;
  const auto rounded = static_cast<std::int64_t>((misuse.value + kGranule - 1) / kGranule * kGranule);
  std::vector<Change> changes = {EditBuilder::setOperand(at, 2, rounded)};
  for (std::uint32_t i = 0; i < countOf(build); ++i) {
    const ptx::Instruction& expect = build.instruction(i);
    if (!expect.decoded->has("expect_tx") || expect.operands.empty()) continue;
    const auto last = static_cast<std::uint32_t>(expect.operands.size() - 1);
    const bool is_same = build.constantOf(expect.operands[last]) == std::optional(static_cast<std::int64_t>(misuse.value));
    if (is_same) changes.push_back(EditBuilder::setOperand(i, last, rounded));
  }
  const std::string what = "round the size up to " + std::to_string(rounded) + " bytes";
  build.add(changes, what + (changes.size() > 1 ? ", and expect as many" : "") + "; both sides have to be that long");
}

void addSpaceEdits(EditBuilder& build, std::uint32_t at) {
  const ptx::Instruction& copy = build.instruction(at);
  if (copy.opcode.find(".shared::cta.global") != std::string::npos) {
    const std::string wider = EditBuilder::replaced(copy.opcode, ".shared::cta", ".shared::cluster");
    build.add({EditBuilder::setOpcode(at, wider)}, "let the destination be in the cluster: .shared::cluster");
  }
  mapLikeOther(build, at);
  if (copy.opcode.find(".shared::cluster.shared::cta") == std::string::npos) return;
  // The rank that destination and mbarrier are mapped to is the issuer's own: its neighbour's is meant.
  std::vector<Change> changes;
  std::set<std::uint32_t> flipped;
  for (const ptx::Operand& operand : copy.operands) {
    const std::optional<std::uint32_t> map = mapOf(build, operand);
    if (map && flipped.insert(*map).second) changes.push_back(EditBuilder::ofKind(Change::Kind::kFlipOperand, *map, 2));
  }
  if (!changes.empty()) build.add(std::move(changes), "map the addresses to the neighbouring CTA");
}

void addWait(EditBuilder& build, Spot spot, std::uint32_t named, std::uint64_t parity) {
  const std::optional<std::uint32_t> operand = barrierOperand(build.instruction(named));
  if (!operand) return;
  for (std::uint32_t i = 0; i < countOf(build); ++i) {
    if (!isPoll(build.instruction(i))) continue;
    Change change = EditBuilder::ofKind(spot.is_behind ? Change::Kind::kWaitAfter : Change::Kind::kWaitBefore, spot.instr, *operand,
                                        static_cast<std::int64_t>(parity & 1));
    change.to = named;
    change.opcode = build.instruction(i).opcode;
    build.add({change}, "insert a wait for the mbarrier with parity " + std::to_string(parity & 1));
    return;
  }
}

void addOnePhase(EditBuilder& build, EventId init) {
  const machine::EventLog& log = build.run().outcome.log;
  if (init == 0 || log[init].kind != EventKind::kMbarrierInit) return;
  std::int64_t total = 0;
  std::vector<Change> changes;
  for (EventId id = 1; id < log.end(); ++id) {
    if (log[id].kind == EventKind::kMbarrierInit && id != init) return;  // arrivals do not say at which barrier
    if (log[id].kind == EventKind::kMbarrierArrive || log[id].kind == EventKind::kCopyArrive) total += std::popcount(log[id].lanes);
  }
  const std::uint32_t at = build.instrOf(init);
  if (total == 0 || build.instruction(at).operands.size() < 2) return;
  changes.push_back(EditBuilder::setOperand(at, 1, total));
  for (std::uint32_t i = 0; i < countOf(build); ++i) {
    if (isPoll(build.instruction(i)) && build.instruction(i).operands.size() > 2) changes.push_back(EditBuilder::setOperand(i, 2, 0));
  }
  build.add(std::move(changes), "let all " + std::to_string(total) + " arrivals make one phase, and wait for that one");
}

void addArrivalsOfLeavers(EditBuilder& build, std::uint32_t wait) {
  for (const std::uint32_t branch : leavingBranches(build)) {
    if (branch > wait) continue;
    for (const EditBuilder::Arrivals& arrivals : build.arrivals()) {
      const ptx::Instruction& arrival = build.instruction(arrivals.instr);
      if (!isSignal(arrival)) continue;
      Change change = EditBuilder::ofKind(Change::Kind::kInsertTaken, branch);
      change.opcode = arrival.opcode;
      change.operands = arrival.operands;
      change.to = arrivals.instr;
      build.add({change}, "let the threads that leave here arrive first");
    }
  }
}

void addEarlierSignals(EditBuilder& build) {
  constexpr unsigned kMaxAhead = 24;
  const Run& run = build.run();
  const std::set<std::uint32_t> known = executed(build);
  std::set<std::uint32_t> seen;
  for (const machine::Stuck& stuck : run.outcome.stuck) {
    const std::uint32_t wait = run.program.ops[std::min<std::size_t>(stuck.op, run.program.ops.size() - 1)].instr;
    if (!seen.insert(wait).second) continue;
    for (std::uint32_t i = wait + 1; i < std::min(countOf(build), wait + kMaxAhead); ++i) {
      const ptx::Instruction& signal = build.instruction(i);
      if (!isSignal(signal) || known.contains(i)) continue;
      build.add({EditBuilder::moveBefore(i, wait)}, "arrive before the wait that it stands behind");
      break;
    }
  }
}

void addLaterBranch(EditBuilder& build, std::uint32_t at) {
  for (const std::uint32_t branch : build.branchesAround(at)) {
    for (std::uint32_t i = branch + 1; i < at; ++i) {
      const bool is_of_all = build.nextEffect(i) != i || build.instruction(i).opcode.starts_with("wgmma.");
      if (!is_of_all) return;
    }
    build.add({EditBuilder::moveBehind(branch, at)}, "take the branch only behind it: the operation is one of the whole warpgroup");
  }
}

void addWaitsOfLeavers(EditBuilder& build, std::uint32_t copy) {
  for (const std::uint32_t branch : leavingBranches(build)) addWait(build, {branch, false}, copy, 0);
}

}  // namespace handoff::diagnose
