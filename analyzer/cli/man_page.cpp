// SPDX-License-Identifier: Apache-2.0
// handoff.1 in the macros of man(7), which every man can show.
#include <algorithm>

#include "analyzer/cli/generate.h"
#include "analyzer/cli/version.h"
#include "analyzer/diagnose/rule.h"

namespace handoff::cli {
namespace {

/// Text as roff reads it: a backslash and a dash are themselves, and no line begins with a control character.
std::string roff(std::string_view text) {
  std::string result;
  for (const char c : text) {
    const bool starts_line = result.empty() || result.back() == '\n';
    if (starts_line && (c == '.' || c == '\'')) result += "\\&";
    if (c == '\\')
      result += "\\e";
    else if (c == '-')
      result += "\\-";
    else if (c == '`')
      result += "\\(ga";
    else
      result += c;
  }
  return result;
}

std::string bold(std::string_view text) { return "\\fB" + roff(text) + "\\fR"; }
std::string italic(std::string_view text) { return "\\fI" + roff(text) + "\\fR"; }

std::string paragraph(std::string_view text) { return ".PP\n" + roff(joinedLines(text)) + "\n"; }

/// Words in capitals, as FILE in "[FILE|FOLDER...]", are places to fill in.
std::string synopsisOf(std::string_view arguments) {
  std::string text, word;
  const auto flush = [&] {
    text += word.empty() ? "" : italic(word);
    word.clear();
  };
  for (const char c : arguments) {
    if (c >= 'A' && c <= 'Z') {
      word += c;
      continue;
    }
    flush();
    text += roff(std::string_view(&c, 1));
  }
  flush();
  return text;
}

std::string optionItem(const OptionInfo& option, std::span<const CommandInfo> commands) {
  std::string text = ".TP\n" + bold(option.name);
  const bool is_short = option.name.size() == 2;
  if (!option.value.empty()) text += (is_short ? " " : "=") + italic(option.value);
  text += "\n" + roff(option.help) + "\n";
  std::string users;
  for (const CommandInfo& command : commands)
    if (takes(command, option)) users += (users.empty() ? "" : ", ") + std::string(command.name);
  return users == "check" ? text : text + "(" + roff(users) + ")\n";
}

std::string optionSection(std::span<const CommandInfo> commands) {
  std::string text = ".SH OPTIONS\n" + roff("Of check, unless the commands stand behind the text.") + "\n";
  std::vector<std::string_view> groups;
  for (const OptionInfo& option : optionTable())
    if (std::find(groups.begin(), groups.end(), option.group) == groups.end()) groups.push_back(option.group);
  for (const std::string_view group : groups) {
    text += ".SS " + roff(group) + "\n";
    for (const OptionInfo& option : optionTable())
      if (option.group == group) text += optionItem(option, commands);
  }
  return text;
}

std::string item(std::string_view name, std::string_view meaning) {
  return ".TP\n" + bold(name) + "\n" + roff(meaning) + "\n";
}

std::string closingSections() {
  std::string text = ".SH VERDICTS\n";
  text += item("verified", "no rule is broken for all that the line names, on every schedule");
  text += item("bounded",
               "no violation was found, but something limits the claim; each limit is listed with its line");
  text += item("violation", "at least one finding, each with a concrete witness");
  text += item("error", "not checked, and why");
  text += ".SH EXIT STATUS\n";
  text += item("0", "nothing found");
  text += item(
      "1",
      "findings of severity warning or error; with --require=verified also a kernel that is only bounded");
  text += item("2", "usage, input or configuration; an input that was not checked");
  text += item("3", "an internal error");
  text += "When several apply, the largest is returned.\n";
  text += ".SH ENVIRONMENT\n";
  text += item("CUDA_HOME, CUDA_PATH", "the CUDA toolkit, where --cuda-path does not name it");
  text += item("NO_COLOR", "no colours, unless --color=always");
  text += ".SH FILES\n";
  text += item(".handoff.yaml",
               "what is true of a source tree; the one in the nearest folder above a checked file counts");
  text += item("compile_commands.json",
               "flags of the compiler, in the folder of -p or in the nearest folder above a file");
  return text;
}

std::string examples() {
  const auto example = [](std::string_view what, std::string_view command) {
    return ".TP\n" + roff(what) + "\n.EX\n" + roff(command) + "\n.EE\n";
  };
  return ".SH EXAMPLES\n" +
         example("One file, with flags of its own:", "handoff check kernel.cu -- -std=c++17 -I include") +
         example("All CUDA files of a CMake build:", "handoff check -p build") +
         example("A kernel whose launch the source does not show:",
                 "handoff check --launch=\"block=128 smem=49152 K=64\" kernel.cu");
}

}  // namespace

std::string manPage(std::span<const CommandInfo> commands) {
  std::string text = ".\\\" Made by `handoff generate man`.\n.TH HANDOFF 1 " + std::string(kReleaseDate) +
                     " \"handoff " + std::string(kVersion) + "\" \"User Commands\"\n";
  text += ".SH NAME\nhandoff \\- check that CUDA kernels hand asynchronously copied data over correctly\n";
  text += ".SH SYNOPSIS\n.nf\n";
  for (const CommandInfo& command : commands)
    for (const std::string_view form : formsOf(command))
      text +=
          bold("handoff " + std::string(command.name)) + (form.empty() ? "" : " ") + synopsisOf(form) + "\n";
  text += bold("handoff --list-checks") + "\n.fi\n.SH DESCRIPTION\n";
  text += roff(
      "Proves that a CUDA kernel hands its asynchronously copied tiles over correctly, or shows a launch, "
      "two threads\n"
      "and a byte where it does not. It reads PTX: Clang compiles CUDA files in process, and nvcc those that "
      "Clang\n"
      "cannot compile. No GPU is needed.\n");
  text += ".SH COMMANDS\n";
  for (const CommandInfo& command : commands)
    text += ".SS " + roff(command.name) + "\n" + roff(joinedLines(command.about)) + "\n" +
            (command.exit_codes.empty() ? "" : paragraph("Exit codes: " + std::string(command.exit_codes)));
  text += optionSection(commands) + closingSections() + ".SH CHECKS\n";
  for (const diagnose::RuleInfo& rule : diagnose::rules()) text += item(rule.name, rule.summary);
  return text + examples() + ".SH SEE ALSO\n.BR handoff\\-confirm (1),\n.BR clang (1)\n";
}

}  // namespace handoff::cli
