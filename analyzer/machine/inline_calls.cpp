// SPDX-License-Identifier: Apache-2.0
// Replaces calls by the callee's body, so that control flow, slice and post-dominators are those of one function.
#include <algorithm>
#include <unordered_map>
#include <variant>

#include "analyzer/machine/program.h"

namespace handoff::machine {

namespace {

using ptx::Function;
using ptx::Instruction;
using ptx::InstrIndex;
using ptx::Operand;

/// Beyond this many instructions the remaining calls stay calls, and become limits.
constexpr std::size_t kMaxInstructions = 2'000'000;
constexpr unsigned kMaxDepth = 24;
/// And beyond this many inlined ones: each has positions of its own, and functions that call twice double them.
constexpr unsigned kMaxCalls = 10'000;

class Inliner {
 public:
  Inliner(const ptx::Module& module, std::vector<SourceStack>& locations) : module_(module), locations_(locations) {}

  Function run(const Function& kernel) {
    out_.name = kernel.name;
    out_.is_kernel = kernel.is_kernel;
    out_.limits = kernel.limits;
    out_.params = kernel.params;
    out_.registers = kernel.registers;
    out_.variables = kernel.variables;
    out_.ptx_line = kernel.ptx_line;
    const Frame frame{.function = &kernel};
    copyBody(frame);
    return std::move(out_);
  }

 private:
  /// How names of one inlined body map to the output.
  struct Frame {
    const Function* function = nullptr;
    std::uint32_t register_base = 0;
    std::uint32_t variable_base = 0;
    std::unordered_map<std::uint32_t, Operand> parameters;  ///< callee parameter variable -> caller's operand
    ptx::LocId call_loc = 0;
    unsigned depth = 0;
    const Frame* caller = nullptr;
  };

  const Function* callee(const Frame& frame, const Instruction& instr) const {
    if (!std::holds_alternative<ptx::Call>(instr.decoded->effect)) return nullptr;
    if (frame.depth >= kMaxDepth || calls_ >= kMaxCalls || out_.instructions.size() > kMaxInstructions) return nullptr;
    const auto name = std::find_if(instr.operands.begin(), instr.operands.end(),
                                   [](const Operand& o) { return o.kind == Operand::Kind::kFunction; });
    if (name == instr.operands.end()) return nullptr;
    const Function* target = module_.findFunction(name->text);
    if (target == nullptr || target->is_declaration) return nullptr;
    for (const Frame* f = &frame; f != nullptr; f = f->caller) {
      if (f->function == target) return nullptr;  // recursion
    }
    const auto inParamSpace = [&](ptx::VarId id) {
      return target->variables[static_cast<std::uint32_t>(id)].space == ptx::Space::kParam;
    };
    const bool plain = std::all_of(target->params.begin(), target->params.end(), inParamSpace) &&
                       std::all_of(target->returns.begin(), target->returns.end(), inParamSpace);
    return plain ? target : nullptr;
  }

  static void mapOperand(const Frame& frame, Operand& operand, const std::vector<InstrIndex>& place) {
    const auto shift = [&](ptx::RegId reg) {
      return ptx::RegId{static_cast<std::uint32_t>(reg) + frame.register_base};
    };
    const bool has_register =
        operand.kind == Operand::Kind::kRegister || operand.base == Operand::Base::kRegister;
    if (has_register) operand.reg = shift(operand.reg);
    const bool has_variable =
        operand.kind == Operand::Kind::kVariable || operand.base == Operand::Base::kVariable;
    if (has_variable && !operand.is_module_scope) {
      const auto var = static_cast<std::uint32_t>(operand.var);
      if (const auto it = frame.parameters.find(var); it != frame.parameters.end()) {
        operand.var = it->second.var;
        operand.is_module_scope = it->second.is_module_scope;
        operand.imm += it->second.imm;
      } else {
        operand.var = ptx::VarId{var + frame.variable_base};
      }
    }
    if (operand.kind == Operand::Kind::kLabel) operand.target = place[operand.target];
    for (Operand& element : operand.elements) mapOperand(frame, element, place);
  }

  ptx::LocId locOf(const Frame& frame, ptx::LocId loc) {
    if (frame.call_loc == 0) return loc;
    const std::uint64_t key = (std::uint64_t{frame.call_loc} << 32) | loc;
    const auto [it, is_new] = inlined_loc_.try_emplace(key, static_cast<ptx::LocId>(locations_.size()));
    if (is_new) {
      SourceStack stack = locations_[loc];
      const SourceStack& outer = locations_[frame.call_loc];
      stack.insert(stack.end(), outer.begin(), outer.end());
      locations_.push_back(std::move(stack));
    }
    return it->second;
  }

  void copyBody(const Frame& frame) {
    const Function& from = *frame.function;
    const std::size_t begin = out_.instructions.size();
    // Labels resolve after the copy: a body grows where it calls.
    std::vector<InstrIndex> place(from.instructions.size() + 1);
    std::vector<InstrIndex> returns;
    std::vector<std::size_t> own;  // output indices of this body's own instructions
    for (std::size_t i = 0; i < from.instructions.size(); ++i) {
      place[i] = static_cast<InstrIndex>(out_.instructions.size());
      const Instruction& instr = from.instructions[i];
      if (const Function* target = callee(frame, instr)) {
        inlineCall(frame, instr, *target);
        continue;
      }
      own.push_back(out_.instructions.size());
      out_.instructions.push_back(instr);
      out_.instructions.back().loc = locOf(frame, instr.loc);
      if (frame.caller != nullptr && std::holds_alternative<ptx::Return>(instr.decoded->effect)) {
        returns.push_back(static_cast<InstrIndex>(out_.instructions.size() - 1));
      }
    }
    place.back() = static_cast<InstrIndex>(out_.instructions.size());
    const std::size_t table_base = out_.branch_tables.size();
    for (const ptx::BranchTable& table : from.branch_tables) {
      out_.branch_tables.push_back(table);
      if (frame.caller != nullptr) out_.branch_tables.back().name += "@" + std::to_string(begin);
      for (InstrIndex& target : out_.branch_tables.back().targets) target = place[target];
    }
    for (const std::size_t index : own) {
      Instruction& instr = out_.instructions[index];
      if (instr.guard) instr.guard->reg = ptx::RegId{static_cast<std::uint32_t>(instr.guard->reg) + frame.register_base};
      for (Operand& operand : instr.operands) mapOperand(frame, operand, place);
      if (frame.caller != nullptr && std::holds_alternative<ptx::BranchIndexed>(instr.decoded->effect)) {
        renameTable(instr, from, table_base);
      }
    }
    for (const InstrIndex index : returns) becomeBranch(out_.instructions[index], place.back());
  }

  void renameTable(Instruction& instr, const Function& from, std::size_t table_base) {
    for (Operand& operand : instr.operands) {
      for (std::size_t t = 0; t < from.branch_tables.size(); ++t) {
        if (operand.text == from.branch_tables[t].name) operand.text = out_.branch_tables[table_base + t].name;
      }
    }
  }

  static void becomeBranch(Instruction& instr, InstrIndex target) {
    instr.opcode = "bra";
    instr.decoded = &ptx::decode("bra");
    Operand label;
    label.kind = Operand::Kind::kLabel;
    label.target = target;
    instr.operands.assign(1, label);
  }

  void inlineCall(const Frame& caller, const Instruction& call, const Function& target) {
    ++calls_;
    Frame frame{.function = &target,
                .register_base = static_cast<std::uint32_t>(out_.registers.size()),
                .variable_base = static_cast<std::uint32_t>(out_.variables.size()),
                .parameters = {},
                .call_loc = locOf(caller, call.loc),
                .depth = caller.depth + 1,
                .caller = &caller};
    out_.registers.insert(out_.registers.end(), target.registers.begin(), target.registers.end());
    out_.variables.insert(out_.variables.end(), target.variables.begin(), target.variables.end());
    bindLists(caller, call, target, frame);
    if (call.guard) skipUnless(caller, call);
    const std::size_t skip = out_.instructions.size();
    copyBody(frame);
    if (call.guard) {
      Instruction& branch = out_.instructions[skip - 1];
      branch.operands[0].target = static_cast<InstrIndex>(out_.instructions.size());
    }
  }

  // "@p call" becomes "@!p bra past".
  void skipUnless(const Frame& caller, const Instruction& call) {
    Instruction branch = call;
    becomeBranch(branch, 0);
    branch.loc = locOf(caller, call.loc);
    branch.guard->reg = ptx::RegId{static_cast<std::uint32_t>(call.guard->reg) + caller.register_base};
    branch.guard->is_negated = !call.guard->is_negated;
    out_.instructions.push_back(std::move(branch));
  }

  void bindLists(const Frame& caller, const Instruction& call, const Function& target, Frame& frame) {
    const bool has_returns = !target.returns.empty();
    unsigned list = 0;
    for (const Operand& operand : call.operands) {
      if (operand.kind != Operand::Kind::kList) continue;
      const auto& formal = has_returns && list == 0 ? target.returns : target.params;
      ++list;
      for (std::size_t i = 0; i < std::min(formal.size(), operand.elements.size()); ++i) {
        Operand actual = operand.elements[i];
        mapOperand(caller, actual, {});
        frame.parameters[static_cast<std::uint32_t>(formal[i])] = std::move(actual);
      }
    }
  }

  const ptx::Module& module_;
  std::vector<SourceStack>& locations_;
  std::unordered_map<std::uint64_t, ptx::LocId> inlined_loc_;
  unsigned calls_ = 0;
  Function out_;
};

}  // namespace

ptx::Function inlineCalls(const ptx::Module& module, const ptx::Function& kernel, std::vector<SourceStack>& locations) {
  return Inliner(module, locations).run(kernel);
}

}  // namespace handoff::machine
