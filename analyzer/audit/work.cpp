// SPDX-License-Identifier: Apache-2.0
// What counts as work: arithmetic on data, and the accesses of the kernel's own.
//
// Address arithmetic and loop counters overlap with nothing that matters, and compilers move them where they like. So
// integer instructions count only where their value is data: it is stored, or goes into floating point or a tensor core.
#include <variant>

#include "analyzer/audit/overlap.h"
#include "analyzer/machine/slice.h"

namespace handoff::audit {

using ptx::Operand;

namespace {

template <typename Use>
void forEachRegister(const Operand& operand, Use&& use) {
  if (operand.kind == Operand::Kind::kRegister) use(operand.reg);
  for (const Operand& element : operand.elements) forEachRegister(element, use);
}

bool isAddress(const Operand& operand) {
  return operand.kind == Operand::Kind::kAddress || operand.kind == Operand::Kind::kTensorAddress;
}

/// Registers whose values are data. Flow-insensitive: a register that is data anywhere is data everywhere.
std::vector<bool> dataRegisters(const ptx::Function& function) {
  std::vector<bool> is_data(function.registers.size(), false);
  const auto mark = [&](ptx::RegId reg) { is_data[static_cast<std::uint32_t>(reg)] = true; };
  const auto isData = [&](const Operand& operand) {
    bool any = false;
    forEachRegister(operand, [&](ptx::RegId reg) { any |= is_data[static_cast<std::uint32_t>(reg)]; });
    return any;
  };
  const auto markSources = [&](const ptx::Instruction& instr) {
    const unsigned destinations = ptx::destinationCount(*instr.decoded, instr.operands.size());
    for (std::size_t i = destinations; i < instr.operands.size(); ++i)
      if (!isAddress(instr.operands[i])) forEachRegister(instr.operands[i], mark);
  };
  for (const ptx::Instruction& instr : function.instructions) {
    const ptx::Effect& effect = instr.decoded->effect;
    const bool consumes = std::holds_alternative<ptx::Store>(effect) || std::holds_alternative<ptx::StMatrix>(effect) ||
                          std::holds_alternative<ptx::Atomic>(effect) || std::holds_alternative<ptx::Opaque>(effect);
    if (consumes) markSources(instr);
  }
  for (bool is_changing = true; is_changing;) {
    is_changing = false;
    for (const ptx::Instruction& instr : function.instructions) {
      if (!std::holds_alternative<ptx::Alu>(instr.decoded->effect)) continue;
      const unsigned destinations = ptx::destinationCount(*instr.decoded, instr.operands.size());
      bool yields_data = false, misses_source = false;
      for (std::size_t i = 0; i < instr.operands.size(); ++i) {
        if (i < destinations) yields_data |= isData(instr.operands[i]);
        else forEachRegister(instr.operands[i], [&](ptx::RegId reg) {
          misses_source |= !is_data[static_cast<std::uint32_t>(reg)];
        });
      }
      if (!yields_data || !misses_source) continue;
      markSources(instr);
      is_changing = true;
    }
  }
  return is_data;
}

WorkKinds::Kind accessKind(const ptx::Decoded& decoded) {
  switch (decoded.space()) {
    case ptx::Space::kShared:
    case ptx::Space::kSharedCluster: return WorkKinds::Kind::kShared;
    case ptx::Space::kGeneric:
    case ptx::Space::kGlobal: return WorkKinds::Kind::kGlobal;
    default: return WorkKinds::Kind::kNone;  // parameters, constants, spills
  }
}

}  // namespace

WorkKinds::WorkKinds(const machine::Program& whole, const Lowered& lowered) {
  const ptx::Function& function = whole.function;
  const machine::Slice slice = machine::computeSlice(function);
  const std::vector<bool> is_data = dataRegisters(function);
  kinds_.assign(function.instructions.size(), Kind::kNone);
  for (std::size_t i = 0; i < kinds_.size(); ++i) {
    const ptx::Instruction& instr = function.instructions[i];
    const ptx::Decoded& decoded = *instr.decoded;
    if (lowered.call_of[i] != kNoCall) continue;  // the copies themselves
    if (std::holds_alternative<ptx::Opaque>(decoded.effect)) {
      kinds_[i] = Kind::kArithmetic;
    } else if (const auto* alu = std::get_if<ptx::Alu>(&decoded.effect)) {
      // A move is a matter of the compiler's registers.
      if (slice.is_executed[i] || alu->op == ptx::AluOp::kMov || instr.operands.empty()) continue;
      forEachRegister(instr.operands[0], [&](ptx::RegId reg) {
        if (is_data[static_cast<std::uint32_t>(reg)]) kinds_[i] = Kind::kArithmetic;
      });
    } else if (std::holds_alternative<ptx::LdMatrix>(decoded.effect) || std::holds_alternative<ptx::StMatrix>(decoded.effect)) {
      kinds_[i] = Kind::kShared;
    } else if (std::holds_alternative<ptx::Load>(decoded.effect) || std::holds_alternative<ptx::Store>(decoded.effect) ||
               std::holds_alternative<ptx::Atomic>(decoded.effect) || std::holds_alternative<ptx::WmmaLoad>(decoded.effect) ||
               std::holds_alternative<ptx::WmmaStore>(decoded.effect)) {
      kinds_[i] = accessKind(decoded);
    }
  }
  // Matrix multiplications are calls of their own, and work for whoever waits for a copy.
  for (std::size_t i = 0; i < kinds_.size(); ++i) {
    const std::uint32_t call = lowered.call_of[i];
    if (call != kNoCall && lowered.calls[call].instructions[lowered.place_of[i]].lowering == Lowering::kMatrix)
      kinds_[i] = Kind::kArithmetic;
  }
}

}  // namespace handoff::audit
