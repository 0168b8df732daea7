// SPDX-License-Identifier: Apache-2.0
// `handoff generate`: the man page, the completions and the lists of docs/cli.md, out of the tables. Used by
// the build.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "analyzer/cli/commands.h"
#include "analyzer/support/result.h"

namespace handoff::cli {

/// What `artifact` ("man", "bash", "zsh", "fish", "cli-docs" or "rule-index") consists of.
Result<std::string> generated(std::string_view artifact, std::span<const CommandInfo> commands);

std::string manPage(std::span<const CommandInfo> commands);
std::string bashCompletion(std::span<const CommandInfo> commands);
std::string zshCompletion(std::span<const CommandInfo> commands);
std::string fishCompletion(std::span<const CommandInfo> commands);

/// The part of docs/cli.md that lists commands and options.
std::string optionDocs(std::span<const CommandInfo> commands);

/// The table of docs/rules/README.md.
std::string ruleIndex(std::span<const CommandInfo> commands);

/// What a value of an option can be, as far as a shell can help.
enum class ValueKind : std::uint8_t { kFlag, kChoice, kFolder, kFile, kRules, kFree };
ValueKind valueKind(const OptionInfo& option);

/// "text|json" in parts.
std::vector<std::string_view> choicesOf(const OptionInfo& option);

/// Whether `command` takes `option`.
bool takes(const CommandInfo& command, const OptionInfo& option);

/// Names of all rules, in the order of the table.
std::vector<std::string_view> ruleNames();

}  // namespace handoff::cli
