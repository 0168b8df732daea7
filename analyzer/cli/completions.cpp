// SPDX-License-Identifier: Apache-2.0
// Completions for bash, zsh and fish. They are text of their own: the shells do not call handoff.
#include "analyzer/cli/generate.h"

namespace handoff::cli {
namespace {

std::string joined(const std::vector<std::string_view>& words) {
  std::string text;
  for (const std::string_view word : words) text += (text.empty() ? "" : " ") + std::string(word);
  return text;
}

std::string commandNames(std::span<const CommandInfo> commands) {
  std::vector<std::string_view> names;
  for (const CommandInfo& command : commands) names.push_back(command.name);
  return joined(names);
}

/// `text` with a backslash before each character of `special`.
std::string escaped(std::string_view text, std::string_view special) {
  std::string result;
  for (const char c : text) {
    if (special.find(c) != std::string_view::npos) result += '\\';
    result += c;
  }
  return result;
}

/// In single quotes for bash and zsh.
std::string quoted(std::string_view text) {
  std::string result = "'";
  for (const char c : text) result += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return result + "'";
}

bool isShort(const OptionInfo& option) { return option.name.size() == 2; }

/// --arch=, --quiet, -p: as they are offered.
std::string offered(const OptionInfo& option) {
  return std::string(option.name) + (option.value.empty() || isShort(option) ? "" : "=");
}

// ---- bash ----

/// How bash completes a value of `option`, or "" for no help.
std::string bashValue(const OptionInfo& option) {
  switch (valueKind(option)) {
    case ValueKind::kChoice:
      return "_handoff_words " + quoted(joined(choicesOf(option)));
    case ValueKind::kRules:
      return "_handoff_words \"$rules\"";
    case ValueKind::kFolder:
      return "_handoff_files folders";
    case ValueKind::kFile:
      return "_handoff_files all";
    case ValueKind::kFlag:
    case ValueKind::kFree:
      return "";
  }
  return "";
}

std::string bashOperand(Operand operand) {
  switch (operand) {
    case Operand::kInputs:
      return "_handoff_files cuda";
    case Operand::kFile:
      return "_handoff_files all";
    case Operand::kFolder:
      return "_handoff_files folders";
    case Operand::kRule:
      return "_handoff_words \"$rules\"";
    case Operand::kNone:
      return ":";
  }
  return ":";
}

constexpr std::string_view kBashHead = R"sh(# bash completion for handoff; made by `handoff generate bash`

# Offers those of the words in $1 that continue $cur.
_handoff_words() {
  COMPREPLY=($(compgen -W "$1" -- "$cur"))
  [[ ${#COMPREPLY[@]} == 1 && ${COMPREPLY[0]} == *= ]] && compopt -o nospace 2>/dev/null
  return 0
}

# Offers files: all of them, those that handoff reads, or folders only.
_handoff_files() {
  local suffix IFS=$'\n'
  compopt -o filenames 2>/dev/null
  COMPREPLY=($(compgen -d -- "$cur"))
  case $1 in
    all) COMPREPLY=($(compgen -f -- "$cur")) ;;
    cuda) for suffix in cu cuh ptx; do COMPREPLY+=($(compgen -f -X "!*.$suffix" -- "$cur")); done ;;
  esac
}

)sh";

// bash breaks words at "=": --format=te arrives as three words.
constexpr std::string_view kBashWords = R"sh(  local cur=${COMP_WORDS[COMP_CWORD]} option=
  if [[ $cur == = ]]; then
    option=${COMP_WORDS[COMP_CWORD - 1]} cur=
  elif [[ ${COMP_WORDS[COMP_CWORD - 1]} == = ]]; then
    option=${COMP_WORDS[COMP_CWORD - 2]}
  elif [[ ${COMP_WORDS[COMP_CWORD - 1]} == -* ]]; then
    option=${COMP_WORDS[COMP_CWORD - 1]}
  fi
)sh";

std::string bashCase(const CommandInfo& command) {
  std::vector<std::string> words;
  std::string values;
  for (const OptionInfo& option : optionTable()) {
    if (!takes(command, option)) continue;
    words.push_back(offered(option));
    if (option.value.empty()) continue;
    const std::string value = bashValue(option);
    values +=
        "        " + std::string(option.name) + ") " + (value.empty() ? "" : value + "; ") + "return ;;\n";
  }
  std::string list;
  for (const std::string& word : words) list += (list.empty() ? "" : " ") + word;
  std::string text = "    " + std::string(command.name) + ")\n";
  if (!values.empty()) text += "      case $option in\n" + values + "      esac\n";
  if (!list.empty())
    text += "      if [[ $cur == -* ]]; then _handoff_words " + quoted(list) + "; return; fi\n";
  if (!command.words.empty())
    text += "      if ((COMP_CWORD == 2)); then _handoff_words " + quoted(command.words) + "; return; fi\n";
  return text + "      " + bashOperand(command.operand) + "\n      ;;\n";
}

// ---- zsh ----

std::string zshAction(const OptionInfo& option) {
  const std::string label = ":" + escaped(option.value, ":[]()");
  switch (valueKind(option)) {
    case ValueKind::kChoice:
      return label + ":(" + joined(choicesOf(option)) + ")";
    case ValueKind::kRules:
      return label + ":(" + joined(ruleNames()) + ")";
    case ValueKind::kFolder:
      return label + ":_files -/";
    case ValueKind::kFile:
      return label + ":_files";
    case ValueKind::kFree:
      return label + ": ";
    case ValueKind::kFlag:
      return "";
  }
  return "";
}

std::string zshOperand(Operand operand) {
  switch (operand) {
    case Operand::kInputs:
      return "'*:input:_files -g \"*.(cu|cuh|ptx)\"'";
    case Operand::kFile:
      return "'*:file:_files'";
    case Operand::kFolder:
      return "'*:folder:_files -/'";
    case Operand::kRule:
      return quoted("1:rule:(" + joined(ruleNames()) + ")");
    case Operand::kNone:
      return "";
  }
  return "";
}

std::string zshCase(const CommandInfo& command) {
  std::string text = "    " + std::string(command.name) + ")\n      _arguments";
  for (const OptionInfo& option : optionTable()) {
    if (!takes(command, option)) continue;
    // "--format=-": the value follows the "=" at once; "-p+": at once or in the next word.
    const std::string form = option.value.empty() ? "" : isShort(option) ? "+" : "=";
    text += " \\\n        " + quoted("*" + std::string(option.name) + form + "[" +
                                     escaped(option.help, "[]:\\") + "]" + zshAction(option));
  }
  if (!command.words.empty())
    text += " \\\n        " + quoted("1:command:(" + std::string(command.words) + ")");
  const std::string operand = zshOperand(command.operand);
  if (!operand.empty()) text += " \\\n        " + operand;
  return text + "\n      ;;\n";
}

// ---- fish ----

/// In single quotes for fish, where only these two need a backslash.
std::string fishQuoted(std::string_view text) { return "'" + escaped(text, "'\\") + "'"; }

std::string fishValue(const OptionInfo& option) {
  switch (valueKind(option)) {
    case ValueKind::kChoice:
      return " -x -a " + fishQuoted(joined(choicesOf(option)));
    case ValueKind::kRules:
      return " -x -a " + fishQuoted(joined(ruleNames()));
    case ValueKind::kFolder:
      return " -x -a '(__fish_complete_directories (commandline -ct | string replace -r \"^--[^=]*=\" "
             "\"\"))'";
    case ValueKind::kFile:
      return " -r -F";
    case ValueKind::kFree:
      return " -x";
    case ValueKind::kFlag:
      return "";
  }
  return "";
}

std::string fishCommand(const CommandInfo& command) {
  const std::string name(command.name);
  const std::string inside = "complete -c handoff -n '__fish_seen_subcommand_from " + name + "'";
  std::string text =
      "complete -c handoff -n __fish_use_subcommand -a " + name + " -d " + fishQuoted(command.summary) + "\n";
  for (const OptionInfo& option : optionTable()) {
    if (!takes(command, option)) continue;
    const std::string spelled = isShort(option) ? " -s " + std::string(option.name.substr(1))
                                                : " -l " + std::string(option.name.substr(2));
    text += inside + spelled + fishValue(option) + " -d " + fishQuoted(option.help) + "\n";
  }
  if (!command.words.empty()) text += inside + " -a " + fishQuoted(command.words) + "\n";
  switch (command.operand) {
    case Operand::kInputs:
      text += inside + " -k -a '(__fish_complete_suffix .cu .cuh .ptx)'\n";
      break;
    case Operand::kFile:
      text += inside + " -F\n";
      break;
    case Operand::kFolder:
      text += inside + " -a '(__fish_complete_directories)'\n";
      break;
    case Operand::kRule:
      text += inside + " -a " + fishQuoted(joined(ruleNames())) + "\n";
      break;
    case Operand::kNone:
      break;
  }
  return text;
}

}  // namespace

std::string bashCompletion(std::span<const CommandInfo> commands) {
  std::string text(kBashHead);
  text += "_handoff() {\n" + std::string(kBashWords);
  text += "  local rules=" + quoted(joined(ruleNames())) + "\n  COMPREPLY=()\n";
  text += "  if ((COMP_CWORD == 1)); then\n    _handoff_words " +
          quoted(commandNames(commands) + " help --version --list-checks") + "\n    return\n  fi\n";
  text += "  case ${COMP_WORDS[1]} in\n";
  for (const CommandInfo& command : commands) text += bashCase(command);
  return text + "  esac\n}\n\ncomplete -F _handoff handoff\n";
}

std::string zshCompletion(std::span<const CommandInfo> commands) {
  std::string text =
      "#compdef handoff\n"
      "# zsh completion for handoff; made by `handoff generate zsh`\n\n"
      "_handoff() {\n"
      "  local -a commands=(\n";
  for (const CommandInfo& command : commands)
    text += "    " + quoted(std::string(command.name) + ":" + escaped(command.summary, ":")) + "\n";
  text +=
      "  )\n"
      "  if ((CURRENT == 2)); then\n"
      "    _describe command commands\n"
      "    return\n"
      "  fi\n"
      "  local command=$words[2]\n"
      "  words=($words[1] $words[3,-1])\n"
      "  ((CURRENT--))\n"
      "  case $command in\n";
  for (const CommandInfo& command : commands) text += zshCase(command);
  return text +
         "  esac\n}\n\n[[ $zsh_eval_context[-1] == loadautofunc ]] && _handoff \"$@\" || compdef _handoff "
         "handoff\n";
}

std::string fishCompletion(std::span<const CommandInfo> commands) {
  std::string text =
      "# fish completion for handoff; made by `handoff generate fish`\ncomplete -c handoff -f\n";
  for (const CommandInfo& command : commands) text += fishCommand(command);
  return text;
}

}  // namespace handoff::cli
