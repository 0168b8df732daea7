// SPDX-License-Identifier: Apache-2.0
// Module -> PTX. Scopes are gone (names are unique), ranges are spelled out, line tables take nvcc's form.
#include "analyzer/ptx/printer.h"

#include <algorithm>
#include <map>

#include "analyzer/ptx/decode.h"
#include "analyzer/ptx/print_operand.h"

namespace handoff::ptx {
namespace {

void appendExtent(std::string& out, std::string_view directive, const std::array<std::uint32_t, 3>& extent) {
  out += std::string(directive) + " " + std::to_string(extent[0]) + ", " + std::to_string(extent[1]) + ", " +
         std::to_string(extent[2]) + "\n";
}

void appendCount(std::string& out, std::string_view directive, std::optional<std::uint32_t> count) {
  if (count) out += std::string(directive) + " " + std::to_string(*count) + "\n";
}

class ModulePrinter {
 public:
  explicit ModulePrinter(const Module& module, const Insertions& insertions = {}) : module_(module), insertions_(insertions) {}

  std::string run() {
    out_ = ".version " + std::to_string(module_.version_major) + "." + std::to_string(module_.version_minor) +
           "\n";
    out_ += ".target " + module_.target + "\n";
    out_ += ".address_size " + std::to_string(module_.address_size) + "\n\n";
    out_ += insertions_.header;
    printItems();
    for (const Alias& alias : module_.aliases) out_ += ".alias " + alias.name + ", " + alias.target + ";\n";
    printFiles();
    printStrings();
    return std::move(out_);
  }

 private:
  // Variables and functions in the order of the text they came from: a name must be declared before its use.
  void printItems() {
    auto variable = module_.variables.begin();
    for (const Function& function : module_.functions) {
      for (; variable != module_.variables.end() && variable->ptx_line <= function.ptx_line; ++variable) {
        printVariable(*variable);
      }
      printFunction(function);
    }
    for (; variable != module_.variables.end(); ++variable) printVariable(*variable);
  }

  void printVariable(const Variable& variable) {
    if (variable.linkage != Linkage::kNone) out_ += std::string(toString(variable.linkage)) + " ";
    out_ += declaration(variable);
    if (!variable.init.empty()) printInitialiser(variable);
    out_ += ";\n";
  }

  std::string declaration(const Variable& variable) {
    std::string text = "." + std::string(toString(variable.space)) + " ";
    if (!variable.opaque_type.empty()) return text + "." + variable.opaque_type + " " + variable.name;
    const unsigned bytes = std::max(1u, byteSize(variable.type));
    if (variable.is_pointer) {
      text += "." + std::string(toString(variable.type)) + " .ptr ";
      if (variable.pointee_space != Space::kGeneric)
        text += "." + std::string(toString(variable.pointee_space)) + " ";
      if (variable.pointee_align != 0) text += ".align " + std::to_string(variable.pointee_align) + " ";
      return text + variable.name;
    }
    if (variable.align != bytes && variable.space != Space::kReg)
      text += ".align " + std::to_string(variable.align) + " ";
    text += "." + std::string(toString(variable.type)) + " " + variable.name;
    if (variable.size == 0 && variable.type != Type::kPred) return text + "[]";
    if (variable.size != bytes && variable.type != Type::kPred)
      text += "[" + std::to_string(variable.size / bytes) + "]";
    return text;
  }

  void printInitialiser(const Variable& variable) {
    const unsigned bytes = std::max(1u, byteSize(variable.type));
    const bool is_list = variable.size != bytes;
    out_ += is_list ? " = {" : " = ";
    auto symbolic = variable.symbolic_init.begin();
    for (std::size_t offset = 0; offset < variable.init.size(); offset += bytes) {
      if (offset != 0) out_ += ", ";
      if (symbolic != variable.symbolic_init.end() && symbolic->offset == offset) {
        out_ += symbolic++->text;
        continue;
      }
      std::uint64_t value = 0;
      for (unsigned i = 0; i < std::min(bytes, 8u) && offset + i < variable.init.size(); ++i) {
        value |= std::uint64_t{variable.init[offset + i]} << (8 * i);
      }
      if (variable.type == Type::kF32 || variable.type == Type::kF64) {
        out_ += floatLiteral(value, variable.type == Type::kF32 ? "0f" : "0d");
      } else {
        out_ += std::to_string(value);
      }
    }
    if (is_list) out_ += "}";
  }

  void printParameters(const Function& function, const std::vector<VarId>& ids) {
    out_ += "(";
    for (std::size_t i = 0; i < ids.size(); ++i) {
      if (i != 0) out_ += ", ";
      out_ += declaration(function.variables[static_cast<std::uint32_t>(ids[i])]);
    }
    out_ += ")";
  }

  void printFunction(const Function& function) {
    if (function.linkage != Linkage::kNone) out_ += std::string(toString(function.linkage)) + " ";
    out_ += function.is_kernel ? ".entry " : ".func ";
    if (!function.returns.empty()) {
      printParameters(function, function.returns);
      out_ += " ";
    }
    out_ += function.name;
    printParameters(function, function.params);
    out_ += "\n";
    printLimits(function);
    if (function.is_declaration) {
      out_ += ";\n\n";
      return;
    }
    out_ += "{\n";
    printDeclarations(function);
    printBody(function);
    out_ += "}\n\n";
  }

  void printLimits(const Function& function) {
    const KernelLimits& limits = function.limits;
    if (function.is_noreturn) out_ += ".noreturn\n";
    if (limits.max_ntid) appendExtent(out_, ".maxntid", *limits.max_ntid);
    if (limits.req_ntid) appendExtent(out_, ".reqntid", *limits.req_ntid);
    appendCount(out_, ".minnctapersm", limits.min_nctapersm);
    appendCount(out_, ".maxnreg", limits.max_nreg);
    if (limits.is_explicit_cluster) out_ += ".explicitcluster\n";
    if (limits.req_cluster) appendExtent(out_, ".reqnctapercluster", *limits.req_cluster);
    appendCount(out_, ".maxclusterrank", limits.max_cluster_rank);
  }

  // Runs of registers of one type share a line; the order, which is the numbering, stays.
  void printDeclarations(const Function& function) {
    std::vector<bool> is_parameter(function.variables.size());
    std::vector<std::string_view> register_parameters;
    for (const auto* ids : {&function.returns, &function.params}) {
      for (const VarId id : *ids) {
        const auto index = static_cast<std::uint32_t>(id);
        is_parameter[index] = true;
        if (function.variables[index].space == Space::kReg)
          register_parameters.push_back(function.variables[index].name);
      }
    }
    constexpr std::size_t kNamesPerLine = 16;
    std::size_t names = 0;
    Type type = Type::kNone;
    for (const Register& reg : function.registers) {
      if (std::ranges::find(register_parameters, reg.name) != register_parameters.end()) continue;
      const bool joins = names != 0 && names < kNamesPerLine && reg.type == type;
      if (!joins && names != 0) out_ += ";\n";
      out_ += joins ? ", " : "\t.reg ." + std::string(toString(reg.type)) + " ";
      names = joins ? names + 1 : 1;
      type = reg.type;
      out_ += reg.name;
    }
    if (names != 0) out_ += ";\n";
    for (std::size_t i = 0; i < function.variables.size(); ++i) {
      if (is_parameter[i]) continue;
      out_ += "\t";
      printVariable(function.variables[i]);
    }
    for (const BranchTable& table : function.branch_tables) {
      out_ += table.name + ": .branchtargets ";
      for (std::size_t i = 0; i < table.targets.size(); ++i) {
        out_ += (i != 0 ? ", " : "") + labelName(function, table.targets[i]);
      }
      out_ += ";\n";
    }
    for (const CallDeclaration& call : function.call_declarations)
      out_ += call.name + ": " + call.text + ";\n";
  }

  void printBody(const Function& function) {
    std::vector<const Label*> labels;
    for (const Label& label : function.labels) labels.push_back(&label);
    // Ties keep the order of the labels, which is that of the pointers.
    std::ranges::sort(labels, {}, [](const Label* label) { return std::pair(label->target, label); });
    const bool has_insertions = function.name == insertions_.function;
    if (has_insertions) out_ += insertions_.entry;
    auto label = labels.begin();
    LocId loc = 0;
    bool is_inline_asm = false;
    for (InstrIndex i = 0; i <= function.instructions.size(); ++i) {
      for (; label != labels.end() && (*label)->target == i; ++label) out_ += (*label)->name + ":\n";
      const bool is_end = i == function.instructions.size();
      const bool wants_asm = !is_end && function.instructions[i].is_inline_asm;
      if (is_inline_asm && !wants_asm) out_ += "\t// end inline asm\n";
      if (is_end) break;
      if (has_insertions) {
        const auto [first, last] = insertions_.before.equal_range(i);
        for (auto insertion = first; insertion != last; ++insertion) out_ += insertion->second;
      }
      const Instruction& instruction = function.instructions[i];
      if (instruction.loc != loc && instruction.loc != 0) printLocation(instruction.loc);
      loc = instruction.loc;
      if (!is_inline_asm && wants_asm) out_ += "\t// begin inline asm\n";
      is_inline_asm = wants_asm;
      out_ += "\t" + printInstruction(module_, function, instruction) + ";\n";
    }
  }

  // The whole chain, outermost first: a line alone would inherit whatever chain came before.
  void printLocation(LocId id) {
    const SourceStack& stack = module_.locations[id];
    for (std::size_t level = stack.size(); level-- > 0;) {
      out_ += "\t.loc " + position(stack[level].pos);
      if (level + 1 < stack.size()) {
        const auto [entry, is_new] = strings_.try_emplace(stack[level].function, strings_.size());
        if (is_new) ordered_.push_back(entry->first);
        out_ += ", function_name $L__info_string" + std::to_string(entry->second) + ", inlined_at " +
                position(stack[level + 1].pos);
      }
      out_ += "\n";
    }
  }

  std::string position(const SourcePos& pos) {
    const auto file = std::ranges::find(module_.files, pos.file);
    const auto index = file == module_.files.end() ? 0 : file - module_.files.begin();
    return std::to_string(index) + " " + std::to_string(pos.line) + " " + std::to_string(pos.column);
  }

  void printFiles() {
    for (std::size_t i = 1; i < module_.files.size(); ++i) {
      if (!module_.files[i].empty())
        out_ += "\t.file\t" + std::to_string(i) + " \"" + module_.files[i] + "\"\n";
    }
  }

  void printStrings() {
    if (ordered_.empty()) return;
    out_ += "\t.section .debug_str\n\t{\n";
    for (std::size_t i = 0; i < ordered_.size(); ++i) {
      out_ += "$L__info_string" + std::to_string(i) + ":\n";
      constexpr std::size_t kBytesPerLine = 40;
      for (std::size_t c = 0; c <= ordered_[i].size(); ++c) {
        const unsigned byte = c < ordered_[i].size() ? static_cast<unsigned char>(ordered_[i][c]) : 0;
        out_ += (c % kBytesPerLine == 0 ? (c == 0 ? ".b8 " : "\n.b8 ") : ",") + std::to_string(byte);
      }
      out_ += "\n";
    }
    out_ += "\t}\n";
  }

  const Module& module_;
  const Insertions insertions_;
  std::string out_;
  std::map<std::string, std::size_t> strings_;  // inlined functions' names, by first use
  std::vector<std::string> ordered_;
};

}  // namespace

std::string print(const Module& module) { return ModulePrinter(module).run(); }

std::string print(const Module& module, const Insertions& insertions) { return ModulePrinter(module, insertions).run(); }

std::string print(const Module& module, const Function& function, const Instruction& instruction) {
  return printInstruction(module, function, instruction);
}

}  // namespace handoff::ptx
