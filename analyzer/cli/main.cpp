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
#include "analyzer/cli/explain.h"
#include "analyzer/cli/options.h"
#include "analyzer/cli/queue.h"
#include "analyzer/cli/replay.h"
#include "analyzer/cli/version.h"
#include "analyzer/support/text.h"

namespace handoff::cli {
namespace {

using Arguments = std::span<const std::string_view>;

constexpr std::string_view kUsage =
    "Usage: handoff COMMAND [ARGUMENT...]\n"
    "\n"
    "Checks that CUDA kernels hand asynchronously copied data over correctly.\n"
    "\n"
    "Commands:\n"
    "  check [OPTION...] [FILE|FOLDER...] [-- FLAG...]   check .cu and .ptx files\n"
    "  audit [OPTION...] [FILE|FOLDER...] [-- FLAG...]   say what asynchronous calls became\n"
    "  baseline create|update|diff [ARGUMENT...]         list known findings; what is new since\n"
    "  queue [OPTION...]                                 a backlog at fixed rates; slots over time\n"
    "  explain RULE                                      print the page of a rule\n"
    "  replay JOB                                        the two orders of a witness job, side by side\n"
    "  version                                           print versions\n"
    "\n"
    "`handoff check --help` lists the options, `handoff --list-checks` the rules.\n";

constexpr std::string_view kCheckUsage =
    "Usage: handoff check [OPTION...] [FILE|FOLDER...] [-- FLAG...]\n"
    "\n"
    "Checks .cu and .ptx files, the ones below folders, or with -p alone all CUDA files of a build.\n"
    "Flags after -- replace those of compile_commands.json.\n";

constexpr std::string_view kAuditUsage =
    "Usage: handoff audit [OPTION...] [FILE|FOLDER...] [-- FLAG...]\n"
    "\n"
    "Says for every asynchronous call which instruction it became, and how much work lies between\n"
    "issue and wait. Reads .cu and .ptx files, and with --cubin machine code.\n";

constexpr std::string_view kAuditExitCodes =
    "\nExit codes: 0 audited, whatever the notes say, 2 usage or input, 3 internal error.\n";

constexpr std::string_view kQueueUsage =
    "Usage: handoff queue [--arrivals=RATE] [--service=RATE] [--steps=N]\n"
    "       handoff queue --timeline=FILE [--html] [OPTION...]\n"
    "\n"
    "A backlog of 4 items at fixed rates, or the slots of a real kernel over time. The queue has no\n"
    "copies, slots, barriers or overlap, and validates no kernel.\n";

constexpr std::string_view kBaselineUsage =
    "Usage: handoff baseline create [OPTION...] [FILE|FOLDER...] [-- FLAG...]\n"
    "       handoff baseline update BASELINE [OPTION...] [FILE|FOLDER...] [-- FLAG...]\n"
    "       handoff baseline diff BASELINE [OPTION...] [FILE|FOLDER...] [-- FLAG...]\n"
    "       handoff baseline diff OLD NEW\n"
    "\n"
    "Lists the findings that there are, for `handoff check --baseline=FILE`; takes the fixed ones out;\n"
    "says what is new, fixed and unchanged.\n";

constexpr std::string_view kBaselineExitCodes =
    "\nExit codes: 0 done, 1 diff: something is new, 2 usage, input or configuration, 3 internal error.\n";

constexpr std::string_view kExitCodes =
    "\nExit codes: 0 nothing found, 1 findings, 2 usage, input or configuration, 3 internal error.\n"
    "When several apply, the largest is returned; all findings are printed in any case.\n";

ExitCode usageError(std::string_view message) {
  std::cerr << "handoff: error: " << message << "\n";
  return ExitCode::kBadInput;
}

ExitCode check(Arguments arguments) {
  const Result<CheckOptions> options = parseCheckOptions(arguments);
  if (!options) return usageError(options.error().message);
  if (options->wants_help) {
    std::cout << kCheckUsage << optionHelp() << kExitCodes;
    return ExitCode::kNothingFound;
  }
  if (options->lists_checks) {
    std::cout << listChecks(options->checks);
    return ExitCode::kNothingFound;
  }
  return runCheck(*options);
}

ExitCode audit(Arguments arguments) {
  const Result<CheckOptions> options = parseCheckOptions(arguments, Command::kAudit);
  if (!options) return usageError(options.error().message);
  if (options->wants_help) {
    std::cout << kAuditUsage << optionHelp(Command::kAudit) << kAuditExitCodes;
    return ExitCode::kNothingFound;
  }
  return runAudit(*options);
}

ExitCode queue(Arguments arguments) {
  const Result<CheckOptions> options = parseCheckOptions(arguments, Command::kQueue);
  if (!options) return usageError(options.error().message);
  if (options->wants_help) {
    std::cout << kQueueUsage << optionHelp(Command::kQueue);
    return ExitCode::kNothingFound;
  }
  return runQueue(*options);
}

ExitCode baseline(Arguments arguments) {
  if (std::find(arguments.begin(), arguments.end(), "--help") == arguments.end()) return runBaseline(arguments);
  std::cout << kBaselineUsage << optionHelp(Command::kBaseline) << kBaselineExitCodes;
  return ExitCode::kNothingFound;
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
  if (arguments.size() != 1) return usageError("replay takes the folder of one job, as --emit-witness writes it");
  return runReplay(std::string(arguments[0]));
}

ExitCode version(Arguments) {
  std::cout << "handoff " << kVersion << " (LLVM " << kLlvmVersion << ")\n";
  return ExitCode::kNothingFound;
}

ExitCode help(Arguments) {
  std::cout << kUsage;
  return ExitCode::kNothingFound;
}

ExitCode list(Arguments) {
  std::cout << listChecks(CheckOptions().checks);
  return ExitCode::kNothingFound;
}

struct Subcommand {
  std::string_view name;
  ExitCode (*run)(Arguments);
};

constexpr std::array<Subcommand, 13> kCommands = {{{"check", check},
                                               {"audit", audit},
                                               {"queue", queue},
                                               {"baseline", baseline},
                                               {"explain", explain},
                                               {"replay", replay},
                                               {"version", version},
                                               {"help", help},
                                               {"--version", version},
                                               {"--help", help},
                                               {"-h", help},
                                               {"--list-checks", list},
                                               {"list-checks", list}}};

ExitCode run(Arguments arguments) {
  if (arguments.empty()) {
    std::cerr << kUsage;
    return ExitCode::kBadInput;
  }
  std::vector<std::string_view> names;
  for (const Subcommand& command : kCommands) {
    if (command.name == arguments[0]) return command.run(arguments.subspan(1));
    names.push_back(command.name);
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
