// SPDX-License-Identifier: Apache-2.0
// The command line: picks the subcommand, and turns crashes into exit code 3.
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <exception>
#include <iostream>
#include <span>
#include <string_view>
#include <vector>

#include "analyzer/cli/audit.h"
#include "analyzer/cli/baseline.h"
#include "analyzer/cli/check.h"
#include "analyzer/cli/commands.h"
#include "analyzer/cli/explain.h"
#include "analyzer/cli/generate.h"
#include "analyzer/cli/lsp.h"
#include "analyzer/cli/mutate.h"
#include "analyzer/cli/options.h"
#include "analyzer/cli/queue.h"
#include "analyzer/cli/replay.h"
#include "analyzer/cli/version.h"
#include "analyzer/support/text.h"

namespace handoff::cli {
namespace {

std::span<const CommandInfo> commandTable();

ExitCode usageError(std::string_view message) {
  std::cerr << "handoff: error: " << message << "\n";
  return ExitCode::kBadInput;
}

ExitCode printHelp(std::string_view name) {
  for (const CommandInfo& command : commandTable())
    if (command.name == name) std::cout << commandHelp(command);
  return ExitCode::kNothingFound;
}

ExitCode check(Arguments arguments) {
  const Result<CheckOptions> options = parseCheckOptions(arguments);
  if (!options) return usageError(options.error().message);
  if (options->wants_help) return printHelp("check");
  if (options->lists_checks) {
    std::cout << listChecks(options->checks);
    return ExitCode::kNothingFound;
  }
  return runCheck(*options);
}

ExitCode audit(Arguments arguments) {
  const Result<CheckOptions> options = parseCheckOptions(arguments, Command::kAudit);
  if (!options) return usageError(options.error().message);
  if (options->wants_help) return printHelp("audit");
  return runAudit(*options);
}

ExitCode mutate(Arguments arguments) {
  const Result<CheckOptions> options = parseCheckOptions(arguments, Command::kMutate);
  if (!options) return usageError(options.error().message);
  if (options->wants_help) return printHelp("mutate");
  return runMutate(*options);
}

ExitCode queue(Arguments arguments) {
  const Result<CheckOptions> options = parseCheckOptions(arguments, Command::kQueue);
  if (!options) return usageError(options.error().message);
  if (options->wants_help) return printHelp("queue");
  return runQueue(*options);
}

ExitCode baseline(Arguments arguments) {
  const bool wants_help = std::find(arguments.begin(), arguments.end(), "--help") != arguments.end();
  return wants_help ? printHelp("baseline") : runBaseline(arguments);
}

ExitCode lsp(Arguments arguments) {
  const Result<CheckOptions> options = parseCheckOptions(arguments, Command::kLsp);
  if (!options) return usageError(options.error().message);
  if (options->wants_help) return printHelp("lsp");
  if (!options->inputs.empty()) return usageError("lsp takes no files: the editor opens them");
  return static_cast<ExitCode>(runLsp(*options));
}

ExitCode explain(Arguments arguments) {
  if (arguments.size() != 1)
    return usageError("explain takes the name of one rule; `handoff --list-checks` lists them");
  const std::optional<std::string_view> page = rulePage(arguments[0]);
  if (!page) return usageError(unknownRule(arguments[0]));
  std::cout << *page;
  return ExitCode::kNothingFound;
}

ExitCode replay(Arguments arguments) {
  if (arguments.size() != 1)
    return usageError("replay takes the folder of one job, as --emit-witness writes it");
  return runReplay(std::string(arguments[0]));
}

ExitCode version(Arguments) {
  std::cout << "handoff " << kVersion << " (LLVM " << kLlvmVersion << ")\n";
  return ExitCode::kNothingFound;
}

ExitCode help(Arguments) {
  std::cout << commandList(commandTable());
  return ExitCode::kNothingFound;
}

ExitCode list(Arguments) {
  std::cout << listChecks(CheckOptions().checks);
  return ExitCode::kNothingFound;
}

ExitCode generate(Arguments arguments) {
  const Result<std::string> text =
      generated(arguments.size() == 1 ? arguments[0] : std::string_view(), commandTable());
  if (!text) return usageError(text.error().message);
  std::cout << *text;
  return ExitCode::kNothingFound;
}

constexpr CommandInfo kCommands[] = {
#include "analyzer/cli/commands.def"
};

std::span<const CommandInfo> commandTable() { return kCommands; }

struct Alias {
  std::string_view name;
  ExitCode (*run)(Arguments);
};

/// What is no command of the table: other spellings, and what only a build of Handoff needs.
constexpr std::array<Alias, 7> kAliases = {{{"help", help},
                                            {"--help", help},
                                            {"-h", help},
                                            {"--version", version},
                                            {"--list-checks", list},
                                            {"list-checks", list},
                                            {"generate", generate}}};

ExitCode run(Arguments arguments) {
  if (arguments.empty()) {
    std::cerr << commandList(kCommands);
    return ExitCode::kBadInput;
  }
  std::vector<std::string_view> names;
  for (const CommandInfo& command : kCommands) {
    names.push_back(command.name);
    if (command.name != arguments[0]) continue;
    if (arguments.size() == 2 && (arguments[1] == "--help" || arguments[1] == "-h")) return printHelp(command.name);
    return command.run(arguments.subspan(1));
  }
  for (const Alias& alias : kAliases) {
    if (alias.name == arguments[0]) return alias.run(arguments.subspan(1));
    names.push_back(alias.name);
  }
  const std::string word(arguments[0]);
  const bool is_file = word.ends_with(".cu") || word.ends_with(".ptx") || word.find('/') != std::string::npos;
  if (is_file)
    return usageError("unknown command '" + word + "'; did you mean `handoff check " + word + "`?");
  return usageError("unknown command '" + word + "'" + suggestion(word, names));
}

/// A failed HANDOFF_CHECK or a crash. Only async-signal-safe calls.
void onFault(int) {
  constexpr std::string_view kText =
      "handoff: internal error: this is a fault of handoff, not of the input\n";
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, kText.data(), kText.size());
  _exit(static_cast<int>(ExitCode::kInternal));
}

}  // namespace
}  // namespace handoff::cli

int main(int argc, char** argv) {
  using handoff::cli::ExitCode;
  for (const int fault : {SIGABRT, SIGSEGV, SIGBUS, SIGILL, SIGFPE})
    std::signal(fault, handoff::cli::onFault);
  std::signal(SIGPIPE, SIG_DFL);
  try {
    const std::vector<std::string_view> arguments(argv + 1, argv + argc);
    return static_cast<int>(handoff::cli::run(arguments));
  } catch (const std::exception& fault) {
    std::cerr << "handoff: internal error: " << fault.what() << "\n";
    return static_cast<int>(ExitCode::kInternal);
  }
}
