// SPDX-License-Identifier: Apache-2.0
// From operands to the text of arguments.
#include "analyzer/explore/source_operand.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>

namespace handoff::explore {

namespace {

bool isWordCharacter(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

/// The operands of `opcode` in an asm template, as written.
std::vector<std::string> operandsIn(const std::string& assembly, const std::string& opcode) {
  const std::size_t at = assembly.find(opcode + " ");
  if (at == std::string::npos) return {};
  const std::size_t begin = at + opcode.size() + 1;
  const std::string list = assembly.substr(begin, assembly.find(';', begin) - begin) + ")";
  std::vector<std::string> operands;
  for (const auto& [from, to] : splitArguments(list, 0)) operands.push_back(list.substr(from, to - from));
  return operands;
}

/// "f(x)" -> {"f", "x"}.
std::optional<std::pair<std::string, std::string>> asCall(const std::string& expression) {
  const std::size_t open = expression.find('(');
  if (open == std::string::npos || !expression.ends_with(')') || !isIdentifier(expression.substr(0, open))) return std::nullopt;
  return std::pair(expression.substr(0, open), expression.substr(open + 1, expression.size() - open - 2));
}

/// "T name = ..." or the like.
bool declares(const std::string& code, const std::string& name) {
  for (std::size_t at = code.find(name); at != std::string::npos; at = code.find(name, at + 1)) {
    const std::size_t end = at + name.size();
    if (at == 0 || isWordCharacter(code[at - 1]) || (end < code.size() && isWordCharacter(code[end]))) continue;
    const std::string_view before = trim(std::string_view(code).substr(0, at));
    const std::string_view after = trim(std::string_view(code).substr(end));
    if (before.empty() || before.ends_with("return") || before.ends_with("else")) continue;
    // An argument is no declaration; a loop may declare in its head.
    const bool is_argument = std::count(before.begin(), before.end(), '(') > std::count(before.begin(), before.end(), ')');
    if (is_argument && !code.starts_with("for")) continue;
    const bool follows_type = isWordCharacter(before.back()) || before.back() == '*' || before.back() == '&' || before.back() == '>' || before.back() == ',';
    const bool is_declared = after.empty() || after[0] == '=' || after[0] == ';' || after[0] == '[' || after[0] == ',' || after[0] == '{';
    if (follows_type && is_declared && !after.starts_with("==")) return true;
  }
  return false;
}

}  // namespace

std::optional<Piece> SourceOperands::valueOf(std::uint32_t at, std::uint32_t operand) const {
  const std::optional<Argument> argument = argumentOf(at, operand, /*is_address=*/false);
  return argument ? std::optional(argument->piece) : std::nullopt;
}

std::optional<std::string> SourceOperands::addressOf(std::uint32_t at, std::uint32_t operand) const {
  const std::optional<Argument> argument = argumentOf(at, operand, /*is_address=*/true);
  return argument ? std::optional(text_.text(argument->piece)) : std::nullopt;
}

std::optional<SourceOperands::Argument> SourceOperands::argumentOf(std::uint32_t at, std::uint32_t operand, bool is_address) const {
  const SourceStack& stack = program_.stackOf(at);
  if (stack.empty()) return std::nullopt;
  const std::size_t own = statements_.frameOf(at);
  const auto plain = [](const std::optional<Piece>& piece) { return piece ? std::optional(Argument{*piece, {}}) : std::nullopt; };
  if (own == 0) return plain(intrinsicArgument(stack[0].pos.line, at));
  if (stack[0].pos.file != file_) return own < stack.size() ? plain(intrinsicArgument(stack[own].pos.line, at)) : std::nullopt;
  const std::optional<AsmStatement> statement = text_.asmAt(stack[0].pos.line);
  if (!statement) return std::nullopt;
  const std::vector<std::string> operands = operandsIn(statement->assembly, program_.function.instructions[at].opcode);
  if (operand >= operands.size()) return std::nullopt;
  std::string place = operands[operand];
  if (place.starts_with('[') && place.ends_with(']')) place = place.substr(1, place.size() - 2);
  if (place.size() < 2 || place[0] != '%') return std::nullopt;
  const std::size_t number = std::strtoul(place.c_str() + 1, nullptr, 10);
  if (number >= statement->operands.size()) return std::nullopt;
  std::string expression = statement->operands[number], converter;
  for (std::size_t level = 0; level < own; ++level) {
    const Wrapper* wrapper = text_.wrapperAround(stack[level].pos.line);
    if (wrapper == nullptr) return std::nullopt;
    if (const auto call = asCall(expression); is_address && call && converter.empty()) {
      converter = call->first;
      expression = call->second;
    }
    const auto find = [&](const std::vector<std::string>& names) { return std::find(names.begin(), names.end(), expression) - names.begin(); };
    const auto by_name = static_cast<std::size_t>(find(wrapper->parameters)), angle = static_cast<std::size_t>(find(wrapper->template_parameters));
    const bool is_template = by_name == wrapper->parameters.size();
    if (is_template && angle == wrapper->template_parameters.size()) return std::nullopt;
    const SourcePos& call = stack[level + 1].pos;
    const std::vector<Piece> arguments = text_.arguments(call.line, wrapper->name, is_template, call.column);
    const std::size_t index = is_template ? angle : by_name;
    if (index >= arguments.size()) return std::nullopt;
    if (level + 1 == own) return Argument{arguments[index], converter};
    expression = text_.text(arguments[index]);
  }
  return std::nullopt;
}

// Functions of the toolkit whose argument is the operand.
std::optional<Piece> SourceOperands::intrinsicArgument(std::uint32_t line, std::uint32_t at) const {
  if (program_.function.instructions[at].opcode != "cp.async.wait_group") return std::nullopt;
  const std::vector<Piece> arguments = text_.arguments(line, "__pipeline_wait_prior", /*is_template=*/false);
  return arguments.size() == 1 ? std::optional(arguments[0]) : std::nullopt;
}

std::optional<std::string> SourceOperands::waitFor(std::uint32_t named, std::uint32_t operand, const std::string& poll, std::int64_t parity,
                                                   std::uint32_t line) const {
  const std::optional<Argument> barrier = argumentOf(named, operand, /*is_address=*/true);
  if (!barrier || !isInScope(text_.text(barrier->piece), barrier->piece.line, line)) return std::nullopt;
  for (const Wrapper& wrapper : text_.wrappers()) {
    if (!wrapper.has_loop || wrapper.statements != 1 || wrapper.parameters.size() != 2) continue;
    if (wrapper.assembly.find(poll + " ") == std::string::npos) continue;
    const std::optional<AsmStatement> statement = text_.asmAt(wrapper.last_line);
    if (!statement || statement->first_line < wrapper.first_line) continue;
    const std::string& parameter = wrapper.parameters[0];
    const std::string expected = barrier->converter.empty() ? parameter : barrier->converter + "(" + parameter + ")";
    if (std::find(statement->operands.begin(), statement->operands.end(), expected) == statement->operands.end()) continue;
    return wrapper.name + "(" + text_.text(barrier->piece) + ", " + std::to_string(parity) + ");";
  }
  return std::nullopt;
}

bool SourceOperands::isInScope(const std::string& code, std::uint32_t from, std::uint32_t to) const {
  for (std::size_t begin = 0; begin < code.size();) {
    if (!isWordCharacter(code[begin])) {
      ++begin;
      continue;
    }
    std::size_t end = begin;
    while (end < code.size() && isWordCharacter(code[end])) ++end;
    const std::string name = code.substr(begin, end - begin);
    begin = end;
    if (!isIdentifier(name)) continue;
    for (std::uint32_t line = from; --line > 0;) {
      const std::string text = text_.code(line);
      if (text.find("__global__") != std::string::npos || text.find("__device__") != std::string::npos) break;  // a parameter, or global
      if (!declares(text, name)) continue;
      const std::size_t depth = text_.indentOf(line).size() + (text_.isLoop(line) ? 1 : 0);
      if (line >= to || depth > text_.indentOf(to).size()) return false;
      break;
    }
  }
  return true;
}

}  // namespace handoff::explore
