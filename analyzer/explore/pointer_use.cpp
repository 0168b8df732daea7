// SPDX-License-Identifier: Apache-2.0
// A data flow from the loads of pointer parameters, along what computes addresses, to any other use.
#include "analyzer/explore/pointer_use.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <optional>
#include <variant>

#include "analyzer/machine/address.h"

namespace handoff::explore {

namespace {

using machine::Arg;
using machine::Op;
using machine::Slot;
using ptx::AluOp;

class PointerFlow {
 public:
  PointerFlow(const machine::Program& program, const Scenario& scenario) : program_(program), scenario_(scenario) {
    for (bool has_changed = true; has_changed;) {
      has_changed = false;
      for (const Op& op : program_.ops) has_changed |= follow(op);
    }
  }

  std::vector<machine::Program::Limit> uses() const {
    std::vector<machine::Program::Limit> limits;
    for (const Op& op : program_.ops) {
      const std::optional<unsigned> pointer = usedBy(op);
      if (!pointer) continue;
      const std::string& name = scenario_.names.buffers.at(*pointer);
      limits.push_back({"what happens here goes by the pointer '" + name + "' itself, which is assumed to lead to a buffer of its own", op.instr});
    }
    return limits;
  }

 private:
  /// The pointer parameter that a load reads, if it does.
  std::optional<unsigned> parameterOf(const Op& op) const {
    const auto args = program_.argsOf(op);
    const bool is_load = std::holds_alternative<ptx::Load>(op.decoded->effect) && op.decoded->space() == ptx::Space::kParam;
    if (!is_load || args.size() < 2 || args[1].kind != Arg::Kind::kAddress) return std::nullopt;
    const std::optional<std::uint64_t> base = constantOf(args[1].slot);
    if (!base) return std::nullopt;
    const std::uint64_t address = *base + static_cast<std::uint64_t>(args[1].offset);
    const std::uint64_t at = address >= machine::kParamWindow ? address - machine::kParamWindow : address;
    const std::vector<std::uint8_t>& bytes = scenario_.launch.param_bytes;
    std::uint64_t word = 0;
    if (at + sizeof(word) > bytes.size()) return std::nullopt;
    std::memcpy(&word, bytes.data() + at, sizeof(word));
    for (const auto& [buffer, name] : scenario_.names.buffers) {
      if (machine::bufferBase(buffer) == word) return buffer;
    }
    return std::nullopt;
  }

  std::optional<std::uint64_t> constantOf(Slot slot) const {
    if (slot == machine::kNoSlot) return 0;
    if ((slot & machine::kConstantBit) != 0) return program_.constants[slot & ~machine::kConstantBit].word[0];
    const auto known = constants_.find(slot);
    return known == constants_.end() ? std::nullopt : std::optional(known->second);
  }

  template <typename Visit>
  void forEachSlot(const Arg& arg, Visit&& visit) const {
    if (arg.kind == Arg::Kind::kSlot) visit(arg.slot);
    if (arg.kind != Arg::Kind::kVector) return;
    for (std::uint32_t i = 0; i < arg.count; ++i) forEachSlot(program_.args[arg.first + i], visit);
  }

  std::optional<unsigned> pointerIn(const Arg& arg) const {
    std::optional<unsigned> found;
    forEachSlot(arg, [&](Slot slot) {
      const auto known = pointers_.find(slot);
      if (known != pointers_.end()) found = known->second;
    });
    return found;
  }

  /// Whether an operand that is a pointer makes the result an address as well.
  static bool isBase(const ptx::Alu& alu, std::size_t source) {
    switch (alu.op) {
      case AluOp::kMov:
      case AluOp::kCvta:
      case AluOp::kAdd:
      case AluOp::kAddC: return true;
      case AluOp::kSelp: return source < 2;
      case AluOp::kSub:
      case AluOp::kSubC: return source == 0;
      case AluOp::kMad:
      case AluOp::kMadC: return source == 2;
      default: return false;
    }
  }

  bool follow(const Op& op) {
    const auto args = program_.argsOf(op);
    std::optional<unsigned> pointer = parameterOf(op);
    const auto* alu = std::get_if<ptx::Alu>(&op.decoded->effect);
    for (std::size_t i = op.dst_count; alu != nullptr && i < args.size(); ++i) {
      if (isBase(*alu, i - op.dst_count) && !pointer) pointer = pointerIn(args[i]);
    }
    bool has_changed = false;
    if (alu != nullptr && alu->op == AluOp::kMov && args.size() == 2 && args[0].kind == Arg::Kind::kSlot && args[1].kind == Arg::Kind::kSlot) {
      if (const auto word = constantOf(args[1].slot)) has_changed |= constants_.emplace(args[0].slot, *word).second;
    }
    if (!pointer) return has_changed;
    for (std::size_t i = 0; i < op.dst_count && i < args.size(); ++i) {
      forEachSlot(args[i], [&](Slot slot) { has_changed |= pointers_.emplace(slot, *pointer).second; });
    }
    return has_changed;
  }

  std::optional<unsigned> usedBy(const Op& op) const {
    const auto args = program_.argsOf(op);
    const auto* alu = std::get_if<ptx::Alu>(&op.decoded->effect);
    for (std::size_t i = op.dst_count; i < args.size(); ++i) {
      const std::optional<unsigned> pointer = pointerIn(args[i]);
      if (pointer && (alu == nullptr || !isBase(*alu, i - op.dst_count))) return pointer;
    }
    return std::nullopt;
  }

  const machine::Program& program_;
  const Scenario& scenario_;
  std::map<Slot, unsigned> pointers_;         ///< the buffer that a register leads to
  std::map<Slot, std::uint64_t> constants_;   ///< a kernel keeps the address of a structure of parameters in a register
};

}  // namespace

std::vector<machine::Program::Limit> pointerUses(const machine::Program& program, const Scenario& scenario) {
  return PointerFlow(program, scenario).uses();
}

}  // namespace handoff::explore
