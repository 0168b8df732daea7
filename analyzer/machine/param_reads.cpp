// SPDX-License-Identifier: Apache-2.0
// Backward walk from address bases through moves and additions to parameter loads.
#include "analyzer/machine/param_reads.h"

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <variant>

#include "analyzer/ptx/decode.h"

namespace handoff::machine {

namespace {

using ptx::AluOp;
using ptx::Instruction;
using ptx::Operand;
using ptx::Space;

class PointerWalk {
 public:
  explicit PointerWalk(const ptx::Function& function) : function_(function), visited_(function.registers.size()) {
    for (std::uint32_t i = 0; i < function.instructions.size(); ++i) {
      const Instruction& instr = function.instructions[i];
      const unsigned count = ptx::destinationCount(*instr.decoded, instr.operands.size());
      for (unsigned d = 0; d < count; ++d) index(instr.operands[d], i);
    }
    for (const Instruction& instr : function.instructions) {
      const Space space = instr.decoded->space();
      const bool private_space = space == Space::kParam || space == Space::kLocal || space == Space::kConst;
      const bool is_copy = std::holds_alternative<ptx::CpAsync>(instr.decoded->effect);
      if (private_space || (space == Space::kShared && !is_copy)) continue;
      for (const Operand& operand : instr.operands) {
        if (operand.kind == Operand::Kind::kAddress && operand.base == Operand::Base::kRegister) walk(operand.reg);
      }
    }
    for (const Instruction& instr : function.instructions) {
      const auto* alu = std::get_if<ptx::Alu>(&instr.decoded->effect);
      const bool to_global = alu != nullptr && alu->op == AluOp::kCvta && instr.decoded->space() == Space::kGlobal;
      if (to_global && instr.operands.size() == 2 && instr.operands[1].kind == Operand::Kind::kRegister) {
        walk(instr.operands[1].reg);
      }
    }
  }

  bool isPointerLoad(std::uint32_t instr) const { return loads_.contains(instr); }

  /// The variable that an address is in, with the offset from its start: compilers keep the address of a structure in a
  /// register. Nothing where that register has other values, too.
  std::optional<std::pair<ptx::VarId, std::int64_t>> placeOf(const Operand& address) const {
    if (address.base == Operand::Base::kVariable && !address.is_module_scope) return std::pair(address.var, address.imm);
    if (address.base != Operand::Base::kRegister || definitions_.count(static_cast<std::uint32_t>(address.reg)) != 1) return std::nullopt;
    const Instruction& definition = function_.instructions[definitions_.find(static_cast<std::uint32_t>(address.reg))->second];
    const auto* alu = std::get_if<ptx::Alu>(&definition.decoded->effect);
    if (alu == nullptr || alu->op != AluOp::kMov || definition.guard || definition.operands.size() != 2) return std::nullopt;
    const Operand& source = definition.operands[1];
    if (source.kind != Operand::Kind::kVariable || source.is_module_scope) return std::nullopt;
    return std::pair(source.var, source.imm + address.imm);
  }

 private:
  void index(const Operand& operand, std::uint32_t instr) {
    if (operand.kind == Operand::Kind::kRegister) definitions_.emplace(static_cast<std::uint32_t>(operand.reg), instr);
    for (const Operand& element : operand.elements) index(element, instr);
  }

  void walk(ptx::RegId start) {
    std::vector<std::uint32_t> work{static_cast<std::uint32_t>(start)};
    while (!work.empty()) {
      const std::uint32_t reg = work.back();
      work.pop_back();
      if (visited_[reg]) continue;
      visited_[reg] = true;
      const auto [first, last] = definitions_.equal_range(reg);
      for (auto it = first; it != last; ++it) follow(it->second, work);
    }
  }

  void follow(std::uint32_t index, std::vector<std::uint32_t>& work) {
    const Instruction& instr = function_.instructions[index];
    const auto push = [&](std::size_t operand) {
      if (operand < instr.operands.size() && instr.operands[operand].kind == Operand::Kind::kRegister) {
        work.push_back(static_cast<std::uint32_t>(instr.operands[operand].reg));
      }
    };
    if (std::holds_alternative<ptx::Load>(instr.decoded->effect)) {
      if (instr.decoded->space() == Space::kParam) loads_.emplace(index, true);
      return;
    }
    const auto* alu = std::get_if<ptx::Alu>(&instr.decoded->effect);
    if (alu == nullptr || ptx::byteSize(instr.decoded->type()) != 8) return followWide(alu, push);
    switch (alu->op) {
      case AluOp::kMov:
      case AluOp::kCvta: push(1); break;
      case AluOp::kAdd: {
        // Of two parameters that are added one at most is a pointer: the other one is an offset, and any number.
        const Trace first = traceOf(instr, 1), second = traceOf(instr, 2);
        const bool is_sum = first.is_parameter && second.is_parameter;
        if (!is_sum || (first.is_address && !second.is_address)) push(1);
        if (!is_sum || (second.is_address && !first.is_address)) push(2);
        break;
      }
      case AluOp::kSub: push(1); break;
      case AluOp::kMad: push(3); break;
      case AluOp::kSelp: push(1); push(2); break;
      default: break;
    }
  }

  /// What an operand is computed from.
  struct Trace { bool is_parameter = false, is_address = false; };

  Trace traceOf(const Instruction& user, std::size_t operand) const {
    Trace trace;
    std::unordered_set<std::uint32_t> seen;
    std::vector<std::uint32_t> work;
    const auto push = [&](const Instruction& instr, std::size_t at) {
      if (at >= instr.operands.size() || instr.operands[at].kind != Operand::Kind::kRegister) return;
      const auto reg = static_cast<std::uint32_t>(instr.operands[at].reg);
      if (seen.insert(reg).second) work.push_back(reg);
    };
    push(user, operand);
    while (!work.empty()) {
      const auto [first, last] = definitions_.equal_range(work.back());
      work.pop_back();
      for (auto it = first; it != last; ++it) {
        const Instruction& instr = function_.instructions[it->second];
        if (std::holds_alternative<ptx::Load>(instr.decoded->effect) && instr.decoded->space() == Space::kParam) {
          const auto place = instr.operands.size() > 1 ? placeOf(instr.operands[1]) : std::nullopt;
          trace.is_parameter = true;
          trace.is_address |= place && function_.variables[static_cast<std::uint32_t>(place->first)].is_pointer;
        }
        const auto* alu = std::get_if<ptx::Alu>(&instr.decoded->effect);
        if (alu == nullptr) continue;
        trace.is_address |= alu->op == AluOp::kCvta;
        const bool has_base = alu->op == AluOp::kMad, is_sum = alu->op == AluOp::kAdd || alu->op == AluOp::kSelp;
        if (has_base) push(instr, 3);
        if (is_sum || alu->op == AluOp::kMov || alu->op == AluOp::kCvta || alu->op == AluOp::kSub) push(instr, 1);
        if (is_sum) push(instr, 2);
      }
    }
    return trace;
  }

  // mad.wide.s32 d, index, size, base: the type names the factors, the base is 64 bits wide.
  template <typename Push>
  static void followWide(const ptx::Alu* alu, Push&& push) {
    if (alu != nullptr && alu->op == AluOp::kMad) push(3);
  }

  const ptx::Function& function_;
  std::unordered_multimap<std::uint32_t, std::uint32_t> definitions_;
  std::unordered_map<std::uint32_t, bool> loads_;
  std::vector<bool> visited_;
};

}  // namespace

std::vector<ParamRead> findParamReads(const ptx::Function& function, const Slice& slice) {
  const PointerWalk pointers(function);
  std::vector<ParamRead> reads;
  for (std::uint32_t i = 0; i < function.instructions.size(); ++i) {
    const Instruction& instr = function.instructions[i];
    const bool is_param_load =
        std::holds_alternative<ptx::Load>(instr.decoded->effect) && instr.decoded->space() == Space::kParam;
    if (!is_param_load || !slice.is_executed[i] || instr.operands.size() < 2) continue;
    const auto place = pointers.placeOf(instr.operands[1]);
    if (!place) continue;
    const auto param = std::find(function.params.begin(), function.params.end(), place->first);
    if (param == function.params.end()) continue;
    const ptx::Variable& variable = function.variables[static_cast<std::uint32_t>(place->first)];
    const unsigned bytes = ptx::byteSize(instr.decoded->type());
    // A part of a number is read of the whole number: its range is that of the parameter.
    const bool is_part = bytes < variable.size && variable.size <= 8 && ptx::byteSize(variable.type) == variable.size && place->second >= 0;
    if (is_part) {
      reads.push_back({.param = static_cast<std::uint32_t>(param - function.params.begin()), .offset = 0,
                       .size = static_cast<std::uint32_t>(variable.size), .is_pointer = variable.is_pointer});
      continue;
    }
    for (unsigned element = 0; element < instr.decoded->vector; ++element) {
      reads.push_back({.param = static_cast<std::uint32_t>(param - function.params.begin()),
                       .offset = static_cast<std::uint32_t>(place->second) + element * bytes,
                       .size = bytes,
                       .is_pointer = bytes == 8 && (variable.is_pointer || pointers.isPointerLoad(i))});
    }
  }
  std::sort(reads.begin(), reads.end());
  reads.erase(std::unique(reads.begin(), reads.end()), reads.end());
  return reads;
}

}  // namespace handoff::machine
