// SPDX-License-Identifier: Apache-2.0
// What can be generated, and what the generators share.
#include "analyzer/cli/generate.h"

#include <array>

#include "analyzer/diagnose/rule.h"
#include "analyzer/report/text_writer.h"
#include "analyzer/support/text.h"

namespace handoff::cli {
namespace {

struct Artifact {
  std::string_view name;
  std::string (*make)(std::span<const CommandInfo>);
};

constexpr std::array<Artifact, 6> kArtifacts = {{{"man", manPage},
                                                 {"bash", bashCompletion},
                                                 {"zsh", zshCompletion},
                                                 {"fish", fishCompletion},
                                                 {"cli-docs", optionDocs},
                                                 {"rule-index", ruleIndex}}};

}  // namespace

Result<std::string> generated(std::string_view artifact, std::span<const CommandInfo> commands) {
  std::vector<std::string_view> names;
  for (const Artifact& known : kArtifacts) {
    if (known.name == artifact) return known.make(commands);
    names.push_back(known.name);
  }
  if (artifact.empty()) return Error{"generate takes one of man, bash, zsh, fish, cli-docs, rule-index", {}};
  return Error{"generate: nothing is called '" + std::string(artifact) + "'" + suggestion(artifact, names),
               {}};
}

std::string optionDocs(std::span<const CommandInfo> commands) {
  std::string text = "```\n";
  for (const CommandInfo& command : commands)
    for (const std::string_view form : formsOf(command))
      text += "handoff " + std::string(command.name) + (form.empty() ? "" : " ") + std::string(form) + "\n";
  text += "handoff --list-checks\n```\n";
  for (const CommandInfo& command : commands)
    if (command.options)
      text += "\nOptions of `handoff " + std::string(command.name) + "`:\n\n```\n" + commandHelp(command) +
              "```\n";
  return text;
}

std::string ruleIndex(std::span<const CommandInfo>) {
  std::string text = "| rule | severity | what it is about |\n| --- | --- | --- |\n";
  for (const diagnose::RuleInfo& rule : diagnose::rules()) {
    const std::string name(rule.name);
    text += "| [" + name + "](" + name + ".md) | " + std::string(report::toString(rule.severity)) + " | " +
            std::string(rule.summary) + " |\n";
  }
  return text;
}

ValueKind valueKind(const OptionInfo& option) {
  if (option.value.empty()) return ValueKind::kFlag;
  if (option.value.find('|') != std::string_view::npos) return ValueKind::kChoice;
  if (option.value == "DIR") return ValueKind::kFolder;
  if (option.value == "FILE") return ValueKind::kFile;
  return option.value == "GLOBS" ? ValueKind::kRules : ValueKind::kFree;
}

std::vector<std::string_view> choicesOf(const OptionInfo& option) {
  std::vector<std::string_view> choices;
  std::string_view rest = option.value;
  for (std::size_t bar = rest.find('|'); bar != std::string_view::npos; bar = rest.find('|')) {
    choices.push_back(rest.substr(0, bar));
    rest.remove_prefix(bar + 1);
  }
  choices.push_back(rest);
  return choices;
}

bool takes(const CommandInfo& command, const OptionInfo& option) {
  return command.options &&
         (static_cast<unsigned>(*command.options) & static_cast<unsigned>(option.command)) != 0;
}

std::vector<std::string_view> ruleNames() {
  std::vector<std::string_view> names;
  for (const diagnose::RuleInfo& rule : diagnose::rules()) names.push_back(rule.name);
  return names;
}

}  // namespace handoff::cli
