// SPDX-License-Identifier: Apache-2.0
// The commands of the program: one table that feeds dispatch, --help, the man page, completions and
// docs/cli.md.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/cli/exit_code.h"
#include "analyzer/cli/options.h"

namespace handoff::cli {

using Arguments = std::span<const std::string_view>;

/// What may stand behind the name of a command, beside options.
enum class Operand : std::uint8_t { kNone, kInputs, kFile, kFolder, kRule };

struct CommandInfo {
  std::string_view name;
  std::string_view arguments;  ///< behind the name, as in "[OPTION...] [FILE...]"
  std::string_view forms;      ///< where one line of arguments is too short for them: the lines of the usage
  std::string_view summary;    ///< a few words, without a full stop
  std::string_view about;      ///< some sentences, above the options; lines end where --help breaks them
  std::string_view exit_codes;
  Operand operand = Operand::kNone;
  std::string_view words = "";  ///< that may come first behind the name, separated by spaces
  std::optional<Command> options;  ///< empty: it has none
  ExitCode (*run)(Arguments arguments) = nullptr;
};

/// The text of `handoff --help`.
std::string commandList(std::span<const CommandInfo> commands);

/// The text of `handoff COMMAND --help`.
std::string commandHelp(const CommandInfo& command);

/// What may stand behind the command's name, one form each.
std::vector<std::string_view> formsOf(const CommandInfo& command);

/// `text` without its line breaks, as one paragraph.
std::string joinedLines(std::string_view text);

}  // namespace handoff::cli
