// SPDX-License-Identifier: Apache-2.0
// Help texts out of the command table.
#include "analyzer/cli/commands.h"

#include <algorithm>

namespace handoff::cli {

std::string commandList(std::span<const CommandInfo> commands) {
  std::string text =
      "Usage: handoff COMMAND [ARGUMENT...]\n"
      "\n"
      "Checks that CUDA kernels hand asynchronously copied data over correctly.\n"
      "\n"
      "Commands:\n";
  constexpr std::size_t kColumn = 52;
  for (const CommandInfo& command : commands) {
    std::string left = "  " + std::string(command.name);
    if (!command.arguments.empty()) left += " " + std::string(command.arguments);
    left.resize(std::max(left.size() + 1, kColumn), ' ');
    text += left + std::string(command.summary) + "\n";
  }
  return text + "\n`handoff check --help` lists the options, `handoff --list-checks` the rules.\n";
}

std::vector<std::string_view> formsOf(const CommandInfo& command) {
  std::vector<std::string_view> forms;
  std::string_view rest = command.forms.empty() ? command.arguments : command.forms;
  for (std::size_t end = rest.find('\n'); end != std::string_view::npos; end = rest.find('\n')) {
    forms.push_back(rest.substr(0, end));
    rest.remove_prefix(end + 1);
  }
  forms.push_back(rest);
  return forms;
}

std::string commandHelp(const CommandInfo& command) {
  std::string text;
  for (const std::string_view form : formsOf(command)) {
    text += (text.empty() ? "Usage: handoff " : "       handoff ") + std::string(command.name);
    text += (form.empty() ? "" : " ") + std::string(form) + "\n";
  }
  text += "\n" + std::string(command.about);
  if (command.options) text += optionHelp(*command.options);
  if (!command.exit_codes.empty()) text += "\nExit codes: " + std::string(command.exit_codes);
  return text;
}

std::string joinedLines(std::string_view text) {
  while (text.ends_with('\n')) text.remove_suffix(1);
  std::string result(text);
  std::replace(result.begin(), result.end(), '\n', ' ');
  return result;
}

}  // namespace handoff::cli
