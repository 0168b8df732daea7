// SPDX-License-Identifier: Apache-2.0
// A flow-insensitive closure from the indices of threads.
#include "analyzer/machine/thread_values.h"

#include <algorithm>
#include <variant>

#include "analyzer/ptx/decode.h"

namespace handoff::machine {

namespace {

using ptx::Operand;

bool isOfThread(ptx::Special special) {
  using ptx::Special;
  switch (special) {
    case Special::kTidX: case Special::kTidY: case Special::kTidZ: case Special::kLaneid: case Special::kWarpid:
    case Special::kLanemaskEq: case Special::kLanemaskLe: case Special::kLanemaskLt: case Special::kLanemaskGe:
    case Special::kLanemaskGt: case Special::kClock: case Special::kClock64: return true;
    default: return false;
  }
}

bool reads(const Operand& operand, const std::vector<bool>& differs) {
  const bool is_register = operand.kind == Operand::Kind::kRegister || operand.base == Operand::Base::kRegister;
  if (is_register && differs[static_cast<std::uint32_t>(operand.reg)]) return true;
  const bool is_special = operand.kind == Operand::Kind::kSpecial || operand.kind == Operand::Kind::kAddress;
  if (is_special && isOfThread(operand.special)) return true;
  return std::any_of(operand.elements.begin(), operand.elements.end(), [&](const Operand& e) { return reads(e, differs); });
}

bool mark(const Operand& operand, std::vector<bool>& differs) {
  bool is_new = false;
  if (operand.kind == Operand::Kind::kRegister && !differs[static_cast<std::uint32_t>(operand.reg)]) {
    differs[static_cast<std::uint32_t>(operand.reg)] = is_new = true;
  }
  for (const Operand& element : operand.elements) is_new |= mark(element, differs);
  return is_new;
}

/// Results that differ whatever the operands: who comes first, who is there, what lies on a thread's own stack.
bool alwaysDiffers(const ptx::Decoded& decoded) {
  if (std::holds_alternative<ptx::Atomic>(decoded.effect)) return true;
  if (const auto* collective = std::get_if<ptx::Collective>(&decoded.effect)) {
    return collective->op == ptx::CollectiveOp::kElect || collective->op == ptx::CollectiveOp::kMatch ||
           collective->op == ptx::CollectiveOp::kActivemask;
  }
  return std::holds_alternative<ptx::Load>(decoded.effect) && decoded.space() == ptx::Space::kLocal;
}

}  // namespace

std::vector<bool> dependOnThread(const ptx::Function& function) {
  std::vector<bool> differs(function.registers.size(), false);
  for (bool has_changed = true; has_changed;) {
    has_changed = false;
    for (const ptx::Instruction& instr : function.instructions) {
      const unsigned destinations = ptx::destinationCount(*instr.decoded, instr.operands.size());
      bool depends = alwaysDiffers(*instr.decoded) || (instr.guard && differs[static_cast<std::uint32_t>(instr.guard->reg)]);
      for (std::size_t o = destinations; o < instr.operands.size() && !depends; ++o) depends = reads(instr.operands[o], differs);
      if (!depends) continue;
      for (unsigned d = 0; d < destinations; ++d) has_changed |= mark(instr.operands[d], differs);
    }
  }
  return differs;
}

}  // namespace handoff::machine
