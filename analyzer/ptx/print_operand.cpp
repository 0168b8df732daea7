// SPDX-License-Identifier: Apache-2.0
// Operands and instructions as text.
#include "analyzer/ptx/print_operand.h"

#include <algorithm>

#include "analyzer/ptx/decode.h"

namespace handoff::ptx {
namespace {

class OperandPrinter {
 public:
  OperandPrinter(const Module& module, const Function& function) : module_(module), function_(function) {}

  std::string print(const Operand& operand) const {
    std::string text = operand.is_negated ? "!" : "";
    switch (operand.kind) {
      case Operand::Kind::kRegister:
      case Operand::Kind::kSink:
        text += operand.kind == Operand::Kind::kSink ? "_" : registerName(operand.reg);
        if (!operand.elements.empty()) text += "|" + print(operand.elements[0]);
        return text;
      case Operand::Kind::kImmediate:
        return text + (operand.is_float ? floatLiteral(static_cast<std::uint64_t>(operand.imm), operand.text)
                                        : std::to_string(operand.imm));
      case Operand::Kind::kSpecial:
        return text +
               (operand.special == Special::kOther ? operand.text : std::string(toString(operand.special)));
      case Operand::Kind::kVariable:
        return text + variableName(operand) + offset(operand.imm);
      case Operand::Kind::kFunction:
      case Operand::Kind::kSymbol:
        return text + operand.text;
      case Operand::Kind::kAddress:
        return "[" + address(operand) + "]" + operand.text;
      case Operand::Kind::kTensorAddress:
        return tensorAddress(operand);
      case Operand::Kind::kVector:
        return vector(operand);
      case Operand::Kind::kLabel:
        return labelName(function_, operand.target);
      case Operand::Kind::kList:
        return "(" + join(operand.elements, 0, operand.elements.size()) + ")";
    }
    return text;
  }

 private:
  std::string registerName(RegId id) const {
    const auto index = static_cast<std::uint32_t>(id);
    return index < function_.registers.size() ? function_.registers[index].name : "?";
  }

  std::string variableName(const Operand& operand) const {
    const auto& variables = operand.is_module_scope ? module_.variables : function_.variables;
    const auto index = static_cast<std::uint32_t>(operand.var);
    return index < variables.size() ? variables[index].name : "?";
  }

  static std::string offset(std::int64_t imm) {
    if (imm == 0) return "";
    return imm > 0 ? "+" + std::to_string(imm) : "+-" + std::to_string(0 - static_cast<std::uint64_t>(imm));
  }

  std::string join(const std::vector<Operand>& elements, std::size_t begin, std::size_t end) const {
    std::string text;
    for (std::size_t i = begin; i < end; ++i) text += (i > begin ? ", " : "") + print(elements[i]);
    return text;
  }

  std::string vector(const Operand& operand) const {
    const bool has_predicate = operand.text == "|" && !operand.elements.empty();
    const std::size_t lanes = operand.elements.size() - (has_predicate ? 1 : 0);
    std::string text = "{" + join(operand.elements, 0, lanes) + "}";
    if (has_predicate) text += "|" + print(operand.elements.back());
    return text;
  }

  std::string address(const Operand& operand) const {
    if (operand.base == Operand::Base::kRegister) return registerName(operand.reg) + offset(operand.imm);
    if (operand.base == Operand::Base::kVariable) return variableName(operand) + offset(operand.imm);
    if (!operand.elements.empty()) return print(operand.elements[0]) + offset(operand.imm);
    return std::to_string(operand.imm);
  }

  // Coordinates stand in braces unless the operand kept a list of its own ("[texture, sampler, {x, y}]").
  std::string tensorAddress(const Operand& operand) const {
    std::string text = "[" + address(operand.elements[0]);
    const bool has_list = std::ranges::any_of(
        operand.elements, [](const Operand& element) { return element.kind == Operand::Kind::kVector; });
    const std::string rest = join(operand.elements, 1, operand.elements.size());
    return text + (has_list ? ", " + rest : ", {" + rest + "}") + "]" + operand.text;
  }

  const Module& module_;
  const Function& function_;
};

bool isEmptyList(const Operand& operand) {
  return operand.kind == Operand::Kind::kList && operand.elements.empty();
}

}  // namespace

std::string floatLiteral(std::uint64_t bits, std::string_view prefix) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  std::string text(prefix);
  for (int shift = prefix == "0f" ? 28 : 60; shift >= 0; shift -= 4) text += kDigits[(bits >> shift) & 15];
  return text;
}

std::string labelName(const Function& function, InstrIndex target) {
  // The parser leaves labels in order; one that a repair appended is found the slow way.
  auto label = std::ranges::lower_bound(function.labels, target, {}, &Label::target);
  if (label == function.labels.end() || label->target != target) {
    label = std::ranges::find(function.labels, target, &Label::target);
  }
  return label == function.labels.end() ? std::string() : label->name;
}

std::string printInstruction(const Module& module, const Function& function, const Instruction& instruction) {
  const OperandPrinter printer(module, function);
  std::string text;
  if (instruction.guard) {
    text += instruction.guard->is_negated ? "@!" : "@";
    text += printer.print({.kind = Operand::Kind::kRegister, .reg = instruction.guard->reg}) + " ";
  }
  text += instruction.opcode;
  const bool is_call =
      instruction.decoded != nullptr && std::holds_alternative<Call>(instruction.decoded->effect);
  bool is_first = true;
  for (const Operand& operand : instruction.operands) {
    if (is_call && isEmptyList(operand)) continue;
    text += (is_first ? " " : ", ") + printer.print(operand);
    is_first = false;
  }
  return text;
}

}  // namespace handoff::ptx
