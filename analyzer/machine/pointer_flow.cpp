// SPDX-License-Identifier: Apache-2.0
#include "analyzer/machine/pointer_flow.h"

#include <algorithm>
#include <variant>

#include "analyzer/machine/address.h"
#include "analyzer/machine/strength.h"

namespace handoff::machine {

namespace {

using ptx::AluOp;
using ptx::Space;

template <typename Visit>
void forEachSlot(const Program& program, const Arg& arg, Visit&& visit) {
  if (arg.kind != Arg::Kind::kSink && arg.slot != kNoSlot) visit(arg.slot);
  for (std::uint32_t i = 0; i < arg.count; ++i) forEachSlot(program, program.args[arg.first + i], visit);
}

/// The operand that is an address in global memory, of a copy within the shadow of global memory. Tensor copies go by a
/// map, whose buffer is none of the parameters'.
std::optional<std::uint32_t> globalOperandOf(const Program& program, const Op& op) {
  const ptx::Effect& effect = op.decoded->effect;
  if (std::holds_alternative<ptx::CpAsync>(effect)) return 1;
  if (!std::holds_alternative<ptx::BulkCopy>(effect)) return std::nullopt;
  unsigned wanted = op.decoded->spaces[0] == Space::kGlobal ? 0 : 1;
  const auto args = program.argsOf(op);
  for (std::uint32_t i = 0; i < args.size(); ++i) {
    if (args[i].kind == Arg::Kind::kAddress && wanted-- == 0) return i;
  }
  return std::nullopt;
}

/// What a register holds is this parameter, as it was given; kOther: something else, or not always that.
constexpr PointerOrigin kOther = ~1ull;

void join(std::map<Slot, PointerOrigin>& held, Slot slot, PointerOrigin origin, bool& has_changed) {
  const auto [known, is_new] = held.emplace(slot, origin);
  has_changed |= is_new || (known->second != origin && known->second != kOther);
  if (known->second != origin) known->second = kOther;
}

/// A generic address and that of its space are the same in global memory, and null in both.
bool isCopyOfPointer(const Op& op) {
  const auto* alu = std::get_if<ptx::Alu>(&op.decoded->effect);
  return alu != nullptr && op.guard == kNoSlot && (alu->op == AluOp::kMov || (alu->op == AluOp::kCvta && op.decoded->space() == Space::kGlobal));
}

}  // namespace

PointerFlow::PointerFlow(const Program& program) : program_(program) {
  for (bool has_changed = true; has_changed;) {
    has_changed = false;
    for (const Op& op : program_.ops) has_changed |= follow(op);
  }
}

std::optional<PointerOrigin> PointerFlow::parameterOf(const Op& op) const {
  const auto args = program_.argsOf(op);
  const bool is_load = std::holds_alternative<ptx::Load>(op.decoded->effect) && op.decoded->space() == Space::kParam;
  if (!is_load || args.size() < 2 || args[1].kind != Arg::Kind::kAddress) return std::nullopt;
  const std::optional<std::uint64_t> base = constantOf(args[1].slot);
  if (!base) return std::nullopt;
  const std::uint64_t address = *base + static_cast<std::uint64_t>(args[1].offset);
  return address >= kParamWindow ? address - kParamWindow : address;
}

std::optional<std::uint64_t> PointerFlow::constantOf(Slot slot) const {
  if (slot == kNoSlot) return 0;
  if ((slot & kConstantBit) != 0) return program_.constants[slot & ~kConstantBit].word[0];
  const auto known = constants_.find(slot);
  return known == constants_.end() ? std::nullopt : std::optional(known->second);
}

void PointerFlow::addOf(Slot slot, PointerOrigins& origins) const {
  if ((slot & kConstantBit) != 0) {
    if (*constantOf(slot) >> kBufferShift == bufferBase(kGlobalVariableBuffer) >> kBufferShift) origins.insert(kVariables);
    return;
  }
  if (const auto known = origins_.find(slot); known != origins_.end()) origins.insert(known->second.begin(), known->second.end());
}

PointerOrigins PointerFlow::of(const Arg& arg) const {
  PointerOrigins origins;
  forEachSlot(program_, arg, [&](Slot slot) { addOf(slot, origins); });
  return origins;
}

bool PointerFlow::isBase(const ptx::Alu& alu, std::size_t source) {
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

bool PointerFlow::follow(const Op& op) {
  const auto args = program_.argsOf(op);
  PointerOrigins found;
  const auto* alu = std::get_if<ptx::Alu>(&op.decoded->effect);
  for (std::size_t i = op.dst_count; alu != nullptr && i < args.size(); ++i) {
    if (isBase(*alu, i - op.dst_count)) found.merge(of(args[i]));
  }
  bool has_changed = false;
  if (alu != nullptr && alu->op == AluOp::kMov && args.size() == 2 && args[0].kind == Arg::Kind::kSlot && args[1].kind == Arg::Kind::kSlot) {
    if (const auto word = constantOf(args[1].slot)) has_changed |= constants_.emplace(args[0].slot, *word).second;
  }
  // The parts of a vector lie one after the other.
  const std::optional<PointerOrigin> parameter = parameterOf(op);
  std::uint64_t part = 0;
  for (std::size_t i = 0; i < op.dst_count && i < args.size(); ++i) {
    forEachSlot(program_, args[i], [&](Slot slot) {
      const std::uint64_t bytes = (slot & kConstantBit) == 0 ? program_.slot_bits[slot] / 8 : 0;
      PointerOrigins& own = origins_[slot];
      const std::size_t before = own.size();
      if (parameter && bytes == 8) own.insert(*parameter + part);
      if (alu == nullptr && !parameter && bytes >= 4) own.insert(kElsewhere);
      own.insert(found.begin(), found.end());
      has_changed |= own.size() != before;
      part += bytes;
    });
  }
  return has_changed;
}

void markApart(Program& program) {
  const PointerFlow flow(program);
  PointerOrigins pointers{PointerFlow::kVariables};
  for (const ParamRead& read : program.param_reads) {
    if (read.is_pointer) pointers.insert(program.param_offset[read.param] + read.offset);
  }
  const auto pointersIn = [&](const Arg& arg) {
    PointerOrigins found = flow.of(arg);
    std::erase_if(found, [&](PointerOrigin origin) { return !pointers.contains(origin); });
    return found;
  };
  PointerOrigins copied;
  for (const Op& op : program.ops) {
    const auto operand = globalOperandOf(program, op);
    if (!operand) continue;
    const PointerOrigins own = pointersIn(program.args[op.first_arg + *operand]);
    if (own.empty()) return;  // it may lead anywhere
    copied.insert(own.begin(), own.end());
  }
  for (Op& op : program.ops) {
    const bool is_store = std::holds_alternative<ptx::Store>(op.decoded->effect), is_load = std::holds_alternative<ptx::Load>(op.decoded->effect);
    if ((!is_store && !is_load) || op.decoded->space() != Space::kGlobal || !isWeak(*op.decoded)) continue;
    const auto args = program.argsOf(op);
    const auto address = std::find_if(args.begin(), args.end(), [](const Arg& arg) { return arg.kind == Arg::Kind::kAddress; });
    if (address == args.end()) continue;
    const PointerOrigins own = pointersIn(*address);
    op.is_apart = !own.empty() && std::none_of(own.begin(), own.end(), [&](PointerOrigin origin) { return copied.contains(origin); });
  }
}

void markNullChecks(Program& program) {
  const PointerFlow flow(program);
  std::map<Slot, PointerOrigin> held;
  for (bool has_changed = true; has_changed;) {
    has_changed = false;
    for (const Op& op : program.ops) {
      const auto args = program.argsOf(op);
      const std::optional<PointerOrigin> parameter = op.guard == kNoSlot ? flow.parameterOf(op) : std::nullopt;
      const bool is_copy = isCopyOfPointer(op) && args.size() == 2 && args[1].kind == Arg::Kind::kSlot;
      if (is_copy && !held.contains(args[1].slot) && (args[1].slot & kConstantBit) == 0) continue;  // not known yet
      std::uint64_t part = 0;
      for (std::size_t i = 0; i < op.dst_count && i < args.size(); ++i) {
        forEachSlot(program, args[i], [&](Slot slot) {
          const std::uint64_t bytes = (slot & kConstantBit) == 0 ? program.slot_bits[slot] / 8 : 0;
          const auto source = is_copy ? held.find(args[1].slot) : held.end();
          const PointerOrigin copied = source == held.end() ? kOther : source->second;
          join(held, slot, parameter && bytes == 8 ? *parameter + part : copied, has_changed);
          part += bytes;
        });
      }
    }
  }
  for (OpIndex index = 0; index < program.ops.size(); ++index) {
    Op& op = program.ops[index];
    const auto* alu = std::get_if<ptx::Alu>(&op.decoded->effect);
    const bool is_test = alu != nullptr && alu->op == AluOp::kSetp && op.decoded->bool_op == ptx::BoolOp::kNone && op.arg_count == op.dst_count + 2 &&
                         (op.decoded->cmp == ptx::CmpOp::kEq || op.decoded->cmp == ptx::CmpOp::kNe) && ptx::byteSize(op.decoded->type()) == 8;
    if (!is_test) continue;
    const auto args = program.argsOf(op).subspan(op.dst_count);
    for (const auto& [pointer, null] : {std::pair(args[0], args[1]), std::pair(args[1], args[0])}) {
      const auto known = pointer.kind == Arg::Kind::kSlot ? held.find(pointer.slot) : held.end();
      const bool is_with_null = null.kind == Arg::Kind::kSlot && (null.slot & kConstantBit) != 0 && flow.constantOf(null.slot) == 0;
      if (known == held.end() || known->second == kOther || !is_with_null) continue;
      op.is_null_check = true;
      program.null_checks.push_back({index, known->second});
    }
  }
}

}  // namespace handoff::machine
