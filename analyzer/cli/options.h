// SPDX-License-Identifier: Apache-2.0
// The options of the commands: one table that feeds parsing, --help and docs/cli.md.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/frontend/input.h"
#include "analyzer/lab/queue.h"
#include "analyzer/mutate/selection.h"
#include "analyzer/support/result.h"

namespace handoff::cli {

enum class Requirement : std::uint8_t { kNone, kChecked, kVerified };
enum class Color : std::uint8_t { kAuto, kAlways, kNever };

/// Of `handoff queue` alone.
struct QueueOptions {
  lab::Rates rates;
  unsigned steps = 2;
  std::string timeline;  ///< the file whose slots to show; empty: none
  bool makes_page = false;
};

/// One more report of the same run.
struct ReportFile {
  std::string format, path;
};

/// Which commands have an option.
enum class Command : std::uint8_t {
  kCheck = 1,
  kAudit = 2,
  kQueue = 4,
  kBaseline = 8,
  kMutate = 16,
  kLsp = 32,
  kAll = 63,
};
constexpr Command operator|(Command a, Command b) {
  return static_cast<Command>(static_cast<std::uint8_t>(a) | static_cast<std::uint8_t>(b));
}

/// Launches that decide a verdict: those of the unit while others are explored as well, all, those of the unit and no others.
enum class Launches : std::uint8_t { kUnit, kAny, kOnly };

struct CheckOptions {
  std::vector<std::string> arguments;  ///< that the rest was read from
  Command command = Command::kCheck;
  std::vector<std::string> inputs;  ///< files and folders as given
  frontend::Options frontend;
  std::string checks = "*,-perf-*";  ///< the user's globs are appended
  std::string warnings_as_errors;
  std::string kernel;  ///< empty: all
  std::vector<std::string> launches;
  Launches launches_explored = Launches::kUnit;
  /// For each kernel; empty: what .handoff.yaml says, else the default of explore::Options.
  std::optional<unsigned> max_seconds, time_share, max_paths, max_memory_mb;
  std::string format = "text";      ///< a name of formats()
  std::string witness_folder;   ///< empty: no jobs
  bool makes_controls = false;  ///< jobs of kernels without findings, too
  std::string confirm_results;  ///< a file of handoff-confirm; empty: none
  std::string output;  ///< empty: standard output
  mutate::Selection mutants;  ///< mutate only
  std::vector<ReportFile> reports;  ///< of --report
  std::string baseline;             ///< findings that are known; empty: none
  std::string export_fixes;         ///< a file for the repairs; empty: none
  bool omits_suppressed = false;
  bool adds_to_baseline = false;  ///< `baseline update` only
  Requirement require = Requirement::kNone;
  Color color = Color::kAuto;
  unsigned jobs = 0;  ///< 0: one a processor
  std::string config_file;  ///< empty: the nearest .handoff.yaml of each file
  enum class ConfigAction : std::uint8_t { kNone, kDump, kExplain, kVerify } config_action = ConfigAction::kNone;
  bool uses_cache = true;
  std::string cache_folder;   ///< empty: the user's
  std::string changed_since;  ///< a revision of git; empty: all files
  bool is_quiet = false;
  bool exits_zero = false;
  bool applies_fixes = false;
  bool show_stats = false;
  bool lists_checks = false;
  bool wants_help = false;
  bool reads_machine_code = false;  ///< audit only
  bool checks_on_change = false;    ///< lsp only
  QueueOptions queue;
};

struct OptionInfo {
  std::string_view name;   ///< with its dashes
  std::string_view value;  ///< what to write for the value in --help; empty: a flag
  std::string_view group;
  std::string_view help;
  /// Takes the value ("" for a flag); returns what is wrong with it, or "".
  std::string (*set)(CheckOptions& options, std::string_view value);
  Command command = Command::kCheck;
};

std::span<const OptionInfo> optionTable();

/// Parses what follows the name of the command; what it does not say is as in `defaults`.
Result<CheckOptions> parseCheckOptions(std::span<const std::string_view> arguments, Command command = Command::kCheck,
                                       CheckOptions defaults = {});

/// The option list of the command's --help.
std::string optionHelp(Command command = Command::kCheck);

}  // namespace handoff::cli
