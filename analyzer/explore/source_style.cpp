// SPDX-License-Identifier: Apache-2.0
// The style of a file.
#include "analyzer/explore/source_style.h"

#include <cctype>

namespace handoff::explore {

using diagnose::Change;
using diagnose::Edit;
using diagnose::SourceChange;

std::optional<std::string> callOfWrapper(const SourceText& text, std::string_view opcode, const std::vector<ptx::Operand>& operands) {
  for (const Wrapper& wrapper : text.wrappers()) {
    if (wrapper.statements != 1 || !std::string_view(wrapper.assembly).starts_with(opcode)) continue;
    std::string_view rest = trim(std::string_view(wrapper.assembly).substr(opcode.size()));
    if (!rest.empty() && std::isalnum(static_cast<unsigned char>(wrapper.assembly[opcode.size()])) != 0) continue;
    if (wrapper.assembly.size() > opcode.size() && (wrapper.assembly[opcode.size()] == '.' || wrapper.assembly[opcode.size()] == ':')) continue;
    if (rest.ends_with(';')) rest = trim(rest.substr(0, rest.size() - 1));
    if (rest.find(';') != std::string_view::npos) continue;
    if (operands.empty() || rest.empty()) {
      if (rest.empty() && wrapper.parameters.empty() && wrapper.template_parameters.empty()) return wrapper.name + "();";
      continue;
    }
    const std::string value = std::to_string(operands[0].imm);
    if (operands.size() != 1 || operands[0].kind != ptx::Operand::Kind::kImmediate) continue;
    if (rest == value && wrapper.parameters.empty()) return wrapper.name + "();";
    if (rest == "%0" && wrapper.template_parameters.size() == 1 && wrapper.parameters.empty()) return wrapper.name + "<" + value + ">();";
    if (rest == "%0" && wrapper.template_parameters.empty() && wrapper.parameters.size() == 1) return wrapper.name + "(" + value + ");";
  }
  return std::nullopt;
}

std::optional<std::string> clusterSyncOf(const SourceText& text) {
  for (const Wrapper& wrapper : text.wrappers()) {
    const std::size_t arrive = wrapper.assembly.find("barrier.cluster.arrive"), wait = wrapper.assembly.find("barrier.cluster.wait");
    const bool is_it = arrive != std::string::npos && wait != std::string::npos && arrive < wait &&
                       wrapper.assembly.find("relaxed") == std::string::npos && wrapper.parameters.empty();
    if (is_it) return wrapper.name + "();";
  }
  if (text.mentions("cluster.sync()")) return "cluster.sync();";
  return std::nullopt;
}

std::string asmOf(const std::string& opcode, const std::vector<ptx::Operand>& operands) {
  std::string instruction = opcode;
  for (std::size_t i = 0; i < operands.size(); ++i) instruction += (i == 0 ? " " : ", ") + std::to_string(operands[i].imm);
  return "asm volatile(\"" + instruction + ";\" ::: \"memory\");";
}

std::optional<SourceChange> completeAsm(const SourceText& text, const std::string& file, std::uint32_t line) {
  const std::optional<AsmStatement> statement = text.asmAt(line);
  if (!statement || statement->first_line != statement->last_line) return std::nullopt;
  std::string changed = text.line(statement->first_line);
  const std::size_t word = changed.find("asm");
  const std::size_t open = changed.find('(', word);
  if (open == std::string::npos) return std::nullopt;
  int depth = 0, colons = 0;
  std::size_t close = open + 1;
  char last = ' ';
  for (bool is_literal = false; close < changed.size(); ++close) {
    const char c = changed[close];
    if (c == '"' && changed[close - 1] != '\\') is_literal = !is_literal;
    if (is_literal) continue;
    depth += c == '(' || c == '[' ? 1 : c == ')' || c == ']' ? -1 : 0;
    if (depth < 0) break;
    colons += depth == 0 && c == ':' ? 1 : 0;
    if (c != ' ') last = c;
  }
  if (depth >= 0) return std::nullopt;
  if (changed.find("\"memory\"", open) == std::string::npos) {
    constexpr int kParts = 3;  // outputs, inputs, clobbers
    const std::string clobber = colons >= kParts ? last == ':' ? " \"memory\"" : ", \"memory\""
                                                 : " " + std::string(static_cast<std::size_t>(kParts - colons), ':') + " \"memory\"";
    changed.insert(close, clobber);
  }
  if (changed.substr(word, open - word).find("volatile") == std::string::npos) changed.insert(word + 3, " volatile");
  if (changed == text.line(statement->first_line)) return std::nullopt;
  return SourceChange{SourceChange::Kind::kReplace, {file, statement->first_line, 0}, text.line(statement->first_line), changed};
}

std::optional<Edit> inStyleOf(const SourceText& text, const Edit& edit) {
  Edit variant = edit;
  bool is_other = false;
  for (Change& change : variant.changes) {
    if (change.opcode == "cp.async.wait_all" && !callOfWrapper(text, change.opcode, {})) {
      ptx::Operand zero;
      zero.kind = ptx::Operand::Kind::kImmediate;
      if (!callOfWrapper(text, "cp.async.wait_group", {zero}) && !text.mentions("__pipeline_")) continue;
      change.opcode = "cp.async.wait_group";
      change.operands = {zero};
      is_other = true;
    } else if (change.opcode == "fence.proxy.async" && !callOfWrapper(text, change.opcode, {})) {
      const std::string narrower = "fence.proxy.async.shared::cta";
      if (!callOfWrapper(text, narrower, {})) continue;
      change.opcode = narrower;
      is_other = true;
    }
  }
  if (!is_other) return std::nullopt;
  const auto replace = [&](std::string_view old, std::string_view by) {
    const std::size_t at = variant.description.find(old);
    if (at != std::string::npos) variant.description.replace(at, old.size(), by);
  };
  replace("cp.async.wait_all", "cp.async.wait_group 0");
  return variant;
}

}  // namespace handoff::explore
