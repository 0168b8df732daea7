// SPDX-License-Identifier: Apache-2.0
// One function an operator. Each looks at one instruction and knows nothing of the rest of the protocol: what a mutant
// breaks is for the analysis to find out.
#include "analyzer/mutate/operators.h"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "analyzer/diagnose/edit_builder.h"
#include "analyzer/mutate/condition.h"
#include "analyzer/ptx/printer.h"

namespace handoff::mutate {

using diagnose::Change;
using diagnose::Edit;
using diagnose::EditBuilder;

namespace {

using Edits = std::vector<Edit>;
constexpr std::uint32_t kNone = 0xffffffffu;

template <typename T>
const T* effectOf(const Subject& subject, std::uint32_t instr) {
  return std::get_if<T>(&subject.at(instr).decoded->effect);
}

bool isMbarrier(const Subject& subject, std::uint32_t instr, std::initializer_list<ptx::MbarrierOp> ops) {
  const auto* mbarrier = effectOf<ptx::Mbarrier>(subject, instr);
  return mbarrier != nullptr && std::find(ops.begin(), ops.end(), mbarrier->op) != ops.end();
}

bool isWgmma(const Subject& subject, std::uint32_t instr, ptx::WgmmaOp op) {
  const auto* wgmma = effectOf<ptx::Wgmma>(subject, instr);
  return wgmma != nullptr && wgmma->op == op;
}

bool isCommit(const Subject& subject, std::uint32_t instr) {
  return effectOf<ptx::CpAsyncCommit>(subject, instr) || effectOf<ptx::BulkCommit>(subject, instr) ||
         isWgmma(subject, instr, ptx::WgmmaOp::kCommit);
}

bool isGroupWait(const Subject& subject, std::uint32_t instr) {
  return effectOf<ptx::CpAsyncWaitGroup>(subject, instr) || effectOf<ptx::CpAsyncWaitAll>(subject, instr) ||
         effectOf<ptx::BulkWait>(subject, instr) || isWgmma(subject, instr, ptx::WgmmaOp::kWait);
}

bool isCopy(const Subject& subject, std::uint32_t instr) {
  return effectOf<ptx::CpAsync>(subject, instr) || effectOf<ptx::BulkCopy>(subject, instr) || effectOf<ptx::TensorCopy>(subject, instr);
}

bool isPlainBarrier(const Subject& subject, std::uint32_t instr) {
  const auto* barrier = effectOf<ptx::CtaBarrier>(subject, instr);
  return barrier != nullptr && barrier->op != ptx::BarrierOp::kRed;
}

bool isControl(const Subject& subject, std::uint32_t instr) {
  return effectOf<ptx::Branch>(subject, instr) || effectOf<ptx::BranchIndexed>(subject, instr) ||
         effectOf<ptx::Exit>(subject, instr) || effectOf<ptx::Return>(subject, instr) || effectOf<ptx::Call>(subject, instr);
}

std::string textOf(const Subject& subject, std::uint32_t instr) {
  return "`" + ptx::print(*subject.program.module, subject.program.function, subject.at(instr)) + "`";
}

void add(Edits& edits, std::vector<Change> changes, std::string description) {
  edits.push_back({std::move(changes), std::move(description)});
}

void drop(const Subject& subject, std::uint32_t instr, Edits& edits) {
  add(edits, {EditBuilder::ofKind(Change::Kind::kDelete, instr)}, "without " + textOf(subject, instr));
}

void addTo(const Subject& subject, std::uint32_t instr, std::uint32_t operand, std::int64_t value, const char* what, Edits& edits) {
  add(edits, {EditBuilder::ofKind(Change::Kind::kAddToOperand, instr, operand, value)},
      std::string(what) + (value < 0 ? " less " : " plus ") + std::to_string(value < 0 ? -value : value) + " in " + textOf(subject, instr));
}

void respell(const Subject& subject, std::uint32_t instr, std::string_view part, std::string_view other, Edits& edits) {
  const std::string& opcode = subject.at(instr).opcode;
  const std::string changed = EditBuilder::replaced(opcode, part, other);
  if (changed == opcode) return;
  add(edits, {EditBuilder::setOpcode(instr, changed)}, changed + " for " + textOf(subject, instr));
}

/// The nearest instruction in the same straight run of code that `wanted` accepts.
template <typename Wanted>
std::uint32_t neighbour(const Subject& subject, std::uint32_t from, int direction, const Wanted& wanted) {
  const auto isTarget = [&](std::uint32_t instr) {
    for (const ptx::Label& label : subject.program.function.labels)
      if (label.target == instr) return true;
    return false;
  };
  if (direction < 0 && isTarget(from)) return kNone;
  for (std::uint32_t i = from + static_cast<std::uint32_t>(direction); i < subject.size(); i += static_cast<std::uint32_t>(direction)) {
    if (isControl(subject, i) || (direction > 0 && isTarget(i))) return kNone;
    if (wanted(i)) return i;
    if (direction < 0 && isTarget(i)) return kNone;
  }
  return kNone;
}

void dropCommit(const Subject& subject, std::uint32_t instr, Edits& edits) {
  if (isCommit(subject, instr)) drop(subject, instr, edits);
}

void earlyCommit(const Subject& subject, std::uint32_t instr, Edits& edits) {
  if (!isCommit(subject, instr)) return;
  const bool is_wgmma = effectOf<ptx::Wgmma>(subject, instr) != nullptr;
  const std::uint32_t copy = neighbour(subject, instr, -1, [&](std::uint32_t i) {
    return is_wgmma ? isWgmma(subject, i, ptx::WgmmaOp::kMma) : isCopy(subject, i);
  });
  if (copy != kNone) add(edits, {EditBuilder::moveBefore(instr, copy)}, textOf(subject, instr) + " before " + textOf(subject, copy));
}

void dropWait(const Subject& subject, std::uint32_t instr, Edits& edits) {
  if (isGroupWait(subject, instr)) drop(subject, instr, edits);
}

void weakenWait(const Subject& subject, std::uint32_t instr, Edits& edits) {
  if (!isGroupWait(subject, instr)) return;
  if (effectOf<ptx::CpAsyncWaitAll>(subject, instr)) {
    Change change = EditBuilder::ofKind(Change::Kind::kReplace, instr);
    change.opcode = "cp.async.wait_group";
    change.operands = {EditBuilder::immediate(1)};
    return add(edits, {change}, "cp.async.wait_group 1 for " + textOf(subject, instr));
  }
  addTo(subject, instr, 0, 1, "N", edits);
}

void readWait(const Subject& subject, std::uint32_t instr, Edits& edits) {
  const auto* wait = effectOf<ptx::BulkWait>(subject, instr);
  if (wait == nullptr || wait->is_read_only) return;
  add(edits, {EditBuilder::setOpcode(instr, subject.at(instr).opcode + ".read")}, "only .read in " + textOf(subject, instr));
}

void lateWait(const Subject& subject, std::uint32_t instr, Edits& edits) {
  if (!isGroupWait(subject, instr)) return;
  const std::uint32_t barrier = neighbour(subject, instr, +1, [&](std::uint32_t i) { return isPlainBarrier(subject, i); });
  if (barrier != kNone) add(edits, {EditBuilder::moveBehind(instr, barrier)}, textOf(subject, instr) + " behind the barrier after it");
}

void dropBarrier(const Subject& subject, std::uint32_t instr, Edits& edits) {
  if (isPlainBarrier(subject, instr)) drop(subject, instr, edits);
}

void warpBarrier(const Subject& subject, std::uint32_t instr, Edits& edits) {
  if (!isPlainBarrier(subject, instr)) return;
  Change change = EditBuilder::ofKind(Change::Kind::kReplace, instr);
  change.opcode = "bar.warp.sync";
  change.operands = {EditBuilder::immediate(0xffffffff)};
  add(edits, {change}, "__syncwarp() for " + textOf(subject, instr));
}

bool touchesMemory(const Subject& subject, std::uint32_t instr) {
  return subject.statements.hasEffect(instr) && !isControl(subject, instr) && !isPlainBarrier(subject, instr);
}

void moveBarrier(const Subject& subject, std::uint32_t instr, Edits& edits) {
  if (!isPlainBarrier(subject, instr)) return;
  const auto wanted = [&](std::uint32_t i) { return touchesMemory(subject, i); };
  if (const std::uint32_t before = neighbour(subject, instr, -1, wanted); before != kNone)
    add(edits, {EditBuilder::moveBefore(instr, before)}, textOf(subject, instr) + " before " + textOf(subject, before));
  if (const std::uint32_t behind = neighbour(subject, instr, +1, wanted); behind != kNone)
    add(edits, {EditBuilder::moveBehind(instr, behind)}, textOf(subject, instr) + " behind " + textOf(subject, behind));
}

void dropClusterBarrier(const Subject& subject, std::uint32_t instr, Edits& edits) {
  const auto* barrier = effectOf<ptx::ClusterBarrier>(subject, instr);
  if (barrier == nullptr || !barrier->is_arrive) return;
  for (std::uint32_t wait = instr + 1; wait < subject.size(); ++wait) {
    const auto* other = effectOf<ptx::ClusterBarrier>(subject, wait);
    if (other == nullptr) continue;
    if (other->is_arrive) return;
    return add(edits, {EditBuilder::ofKind(Change::Kind::kDelete, instr), EditBuilder::ofKind(Change::Kind::kDelete, wait)},
               "without " + textOf(subject, instr) + " and its wait");
  }
}

void weakenClusterBarrier(const Subject& subject, std::uint32_t instr, Edits& edits) {
  const auto* barrier = effectOf<ptx::ClusterBarrier>(subject, instr);
  if (barrier == nullptr || !barrier->is_arrive || subject.at(instr).decoded->has("relaxed")) return;
  const std::string plain = EditBuilder::without(subject.at(instr).opcode, ".release");
  add(edits, {EditBuilder::setOpcode(instr, EditBuilder::replaced(plain, ".arrive", ".arrive.relaxed"))}, "relaxed " + textOf(subject, instr));
}

constexpr auto isArrive = [](const Subject& subject, std::uint32_t instr) {
  return isMbarrier(subject, instr, {ptx::MbarrierOp::kArrive, ptx::MbarrierOp::kArriveExpectTx});
};

void dropArrive(const Subject& subject, std::uint32_t instr, Edits& edits) {
  if (isArrive(subject, instr) || effectOf<ptx::CpAsyncMbarrierArrive>(subject, instr)) drop(subject, instr, edits);
}

void arriveCount(const Subject& subject, std::uint32_t instr, Edits& edits) {
  if (!isMbarrier(subject, instr, {ptx::MbarrierOp::kArrive})) return;
  const ptx::Instruction& arrive = subject.at(instr);
  const std::size_t address = ptx::destinationCount(*arrive.decoded, arrive.operands.size());
  if (arrive.operands.size() > address + 1) return addTo(subject, instr, static_cast<std::uint32_t>(address + 1), 1, "count", edits);
  if (arrive.operands.size() != address + 1) return;
  Change change = EditBuilder::ofKind(Change::Kind::kReplace, instr);
  change.opcode = arrive.opcode;
  change.operands = arrive.operands;
  change.operands.push_back(EditBuilder::immediate(2));
  add(edits, {change}, "count 2 in " + textOf(subject, instr));
}

void copyArrive(const Subject& subject, std::uint32_t instr, Edits& edits) {
  const auto* arrive = effectOf<ptx::CpAsyncMbarrierArrive>(subject, instr);
  if (arrive == nullptr) return;
  const std::string& opcode = subject.at(instr).opcode;
  const std::string changed = arrive->is_noinc ? EditBuilder::without(opcode, ".noinc") : EditBuilder::replaced(opcode, ".arrive", ".arrive.noinc");
  add(edits, {EditBuilder::setOpcode(instr, changed)}, changed + " for " + textOf(subject, instr));
}

void weakenArrive(const Subject& subject, std::uint32_t instr, Edits& edits) {
  if (isArrive(subject, instr)) respell(subject, instr, ".release", ".relaxed", edits);
}

void earlyArrive(const Subject& subject, std::uint32_t instr, Edits& edits) {
  if (!isMbarrier(subject, instr, {ptx::MbarrierOp::kArrive})) return;
  const std::uint32_t read = neighbour(subject, instr, -1, [&](std::uint32_t i) {
    const bool is_load = effectOf<ptx::Load>(subject, i) || effectOf<ptx::LdMatrix>(subject, i);
    return is_load && subject.at(i).decoded->space() != ptx::Space::kGlobal && touchesMemory(subject, i);
  });
  if (read != kNone) add(edits, {EditBuilder::moveBefore(instr, read)}, textOf(subject, instr) + " before " + textOf(subject, read));
}

void initCount(const Subject& subject, std::uint32_t instr, Edits& edits) {
  if (!isMbarrier(subject, instr, {ptx::MbarrierOp::kInit})) return;
  addTo(subject, instr, 1, 1, "count", edits);
  const ptx::Operand& count = subject.at(instr).operands.at(1);
  if (count.kind != ptx::Operand::Kind::kImmediate || count.imm > 1) addTo(subject, instr, 1, -1, "count", edits);
}

void expectBytes(const Subject& subject, std::uint32_t instr, Edits& edits) {
  if (!isMbarrier(subject, instr, {ptx::MbarrierOp::kExpectTx, ptx::MbarrierOp::kArriveExpectTx})) return;
  const auto bytes = static_cast<std::uint32_t>(subject.at(instr).operands.size() - 1);
  addTo(subject, instr, bytes, 16, "bytes", edits);
  addTo(subject, instr, bytes, -16, "bytes", edits);
}

bool isPoll(const Subject& subject, std::uint32_t instr) {
  return isMbarrier(subject, instr, {ptx::MbarrierOp::kTestWait, ptx::MbarrierOp::kTryWait});
}

void flipParity(const Subject& subject, std::uint32_t instr, Edits& edits) {
  if (!isPoll(subject, instr) || !effectOf<ptx::Mbarrier>(subject, instr)->is_parity) return;
  add(edits, {EditBuilder::ofKind(Change::Kind::kFlipOperand, instr, 2)}, "the other parity in " + textOf(subject, instr));
}

void dropPoll(const Subject& subject, std::uint32_t instr, Edits& edits) {
  if (!isPoll(subject, instr)) return;
  Change change = EditBuilder::ofKind(Change::Kind::kReplace, instr);
  change.opcode = "setp.eq.u32";
  change.operands = {subject.at(instr).operands.at(0), EditBuilder::immediate(0), EditBuilder::immediate(0)};
  add(edits, {change}, "true for " + textOf(subject, instr));
}

void weakenPoll(const Subject& subject, std::uint32_t instr, Edits& edits) {
  if (isPoll(subject, instr)) respell(subject, instr, ".acquire", ".relaxed", edits);
}

void dropFence(const Subject& subject, std::uint32_t instr, Edits& edits) {
  if (effectOf<ptx::Fence>(subject, instr) || isWgmma(subject, instr, ptx::WgmmaOp::kFence)) drop(subject, instr, edits);
}

void dropWarpBarrier(const Subject& subject, std::uint32_t instr, Edits& edits) {
  if (effectOf<ptx::WarpBarrier>(subject, instr)) drop(subject, instr, edits);
}

void slotIndex(const Subject& subject, std::uint32_t instr, Edits& edits) {
  const auto slot = subject.slot_bytes.find(instr);
  if (slot != subject.slot_bytes.end()) addTo(subject, instr, 0, slot->second, "destination", edits);
}

void copyPredicate(const Subject& subject, std::uint32_t instr, Edits& edits) {
  const bool is_copy = isCopy(subject, instr);
  if (!is_copy && !isArrive(subject, instr)) return;
  if (subject.at(instr).guard) {
    add(edits, {EditBuilder::ofKind(Change::Kind::kDropGuard, instr)}, "for all threads " + textOf(subject, instr));
    return add(edits, {EditBuilder::ofKind(Change::Kind::kNegateGuard, instr)}, "for the other threads " + textOf(subject, instr));
  }
  const std::optional<Condition> condition = conditionOf(subject, instr);
  if (!condition) return;
  const Change::Kind kind = condition->if_taken ? Change::Kind::kDropGuard : Change::Kind::kDelete;
  add(edits, {EditBuilder::ofKind(kind, condition->branch)}, "without the condition around " + textOf(subject, instr));
}

constexpr std::array<Operator, 25> kOperators = {{
    {"drop-commit", "a group of copies or multiplications is not committed", dropCommit},
    {"early-commit", "a group is committed before its last copy", earlyCommit},
    {"drop-wait", "a wait for groups is left out", dropWait},
    {"weaken-wait", "a wait leaves one group more in flight", weakenWait},
    {"read-wait", "a wait for bulk stores waits for their reads only", readWait},
    {"late-wait", "a wait comes behind the barrier that publishes it", lateWait},
    {"drop-barrier", "a barrier of the block is left out", dropBarrier},
    {"warp-barrier", "a barrier of the block holds the warp only", warpBarrier},
    {"move-barrier", "a barrier changes places with its neighbour", moveBarrier},
    {"drop-warp-barrier", "a barrier of the warp is left out", dropWarpBarrier},
    {"drop-cluster-barrier", "a barrier of the cluster is left out", dropClusterBarrier},
    {"weaken-cluster-barrier", "an arrival at the barrier of the cluster releases nothing", weakenClusterBarrier},
    {"drop-arrive", "an arrival at an mbarrier is left out", dropArrive},
    {"arrive-count", "an arrival counts one more", arriveCount},
    {"copy-arrive", "an arrival of copies counts, or does not count, as pending", copyArrive},
    {"weaken-arrive", "an arrival releases nothing", weakenArrive},
    {"early-arrive", "a slot is released before it is read", earlyArrive},
    {"init-count", "an mbarrier expects one arrival more, or one less", initCount},
    {"expect-bytes", "an mbarrier expects 16 bytes more, or 16 less", expectBytes},
    {"flip-parity", "a wait is for the other phase", flipParity},
    {"drop-poll", "a wait for a phase is left out", dropPoll},
    {"weaken-poll", "a wait for a phase acquires nothing", weakenPoll},
    {"drop-fence", "a fence is left out", dropFence},
    {"slot-index", "a copy fills the next slot", slotIndex},
    {"copy-predicate", "a copy or an arrival is made by other threads", copyPredicate},
}};

}  // namespace

std::span<const Operator> operators() { return kOperators; }

}  // namespace handoff::mutate
